// Which masters serve the API, asked each directly; an answer is good for a second, so that quick looks cost nothing.
import { apiPort } from '../control-plane/apiserver-pod.ts';
import { memberUrl } from '../etcd/member-flags.ts';
import type { Host } from '../host/host.ts';
import type { InventoryMachine } from '../node-software/inventory.ts';
import { apiReadiness } from './api-readiness.ts';

const freshMs = 1_000;

export class ApiProbes {
  readonly #host: Host;
  readonly #ca: string;
  #last: { readonly atMs: number; readonly ready: readonly string[] } | undefined;

  constructor(host: Host, ca: string) {
    this.#host = host;
    this.#ca = ca;
  }

  /** Their names. */
  async ready(masters: readonly InventoryMachine[]): Promise<readonly string[]> {
    const nowMs = this.#host.clock.monotonicMs();
    if (this.#last !== undefined && nowMs - this.#last.atMs < freshMs) return this.#last.ready;
    const answers = await Promise.all(
      masters.map(async ({ name, addresses }) => {
        const url = memberUrl(addresses[0] ?? '', apiPort);
        const { status } = await apiReadiness(this.#host, { url, ca: this.#ca });
        return status === 'ready' ? [name] : [];
      }),
    );
    this.#last = { atMs: this.#host.clock.monotonicMs(), ready: answers.flat() };
    return this.#last.ready;
  }
}
