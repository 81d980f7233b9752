// The drains that are under way, one task per node. A drain takes as long as its pods and budgets take, and nothing
// else waits for it. A task ends when its request is answered or changes, and with the leadership of this controller.
import { readDrainProgress } from '../contract/machine-config-node.ts';
import type { Missing } from '../contract/missing.ts';
import { FirstlightError } from '../errors/firstlight-error.ts';
import { type DrainOptions, drainNode } from './drain-node.ts';
import type { NodeRequest } from './node-requests.ts';
import type { RolloutNode } from './rollout-node.ts';

export type DrainRequest = Extract<NodeRequest, { kind: 'drain' }>;

export interface DrainsOptions extends Pick<DrainOptions, 'client' | 'host' | 'signal' | 'mayAct' | 'onTrouble'> {
  /** What is missing before the machine of this node may go down. */
  readonly missing: (node: RolloutNode) => Promise<readonly Missing[]>;
}

/** A drain that failed begins again after this long. */
const againMs = 1_000;

export class Drains implements AsyncDisposable {
  readonly #options: DrainsOptions;
  readonly #running = new Map<string, { readonly request: string; readonly end: AbortController }>();
  readonly #tasks = new Set<Promise<void>>();
  /** A mistake in this program; the next `keep` throws it. */
  #failure: { readonly error: unknown } | undefined;

  constructor(options: DrainsOptions) {
    this.#options = options;
  }

  /** Starts what is asked for, and ends what is not asked for any more. */
  keep(requests: readonly DrainRequest[], nodes: readonly RolloutNode[]): void {
    if (this.#failure !== undefined) throw this.#failure.error;
    for (const [node, { request, end }] of this.#running) {
      if (requests.some((each) => each.node === node && each.request === request)) continue;
      end.abort(new Error(`${node} does not ask for ${request} any more`));
      this.#running.delete(node);
    }
    for (const { node: name, request } of requests) {
      const node = nodes.find((each) => each.name === name);
      if (this.#running.has(name) || node === undefined) continue;
      const end = new AbortController();
      this.#running.set(name, { request, end });
      const signal = AbortSignal.any([this.#options.signal, end.signal]);
      const task = this.#drain(node, { isOnlyNode: nodes.length === 1, signal }).catch((error: unknown) => {
        this.#failure = { error };
      });
      this.#tasks.add(task);
      void task.then(() => this.#tasks.delete(task));
    }
  }

  async #drain(node: RolloutNode, { isOnlyNode, signal }: Pick<DrainOptions, 'isOnlyNode' | 'signal'>): Promise<void> {
    const { missing, onTrouble, host, ...options } = this.#options;
    const { name, desiredDrain: request } = node;
    const { since } = readDrainProgress(node.drainProgress) ?? {};
    while (!signal.aborted) {
      try {
        const ask = () => missing(node);
        return await drainNode({
          ...options,
          host,
          onTrouble,
          node: name,
          request,
          since,
          isOnlyNode,
          missing: ask,
          signal,
        });
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof FirstlightError)) throw error;
        onTrouble(error);
        await host.clock.sleep(againMs, signal).catch(() => undefined);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { end } of this.#running.values()) end.abort(new Error('this controller does not lead any more'));
    await Promise.allSettled(this.#tasks);
  }
}
