// Which masters serve the API, and whether the bootstrap machine still does, asked each directly; an answer is good for a
// second, so that quick looks cost nothing.
import { apiPort } from '../control-plane/apiserver-pod.ts';
import { isError } from '../errors/firstlight-error.ts';
import { memberUrl } from '../etcd/member-flags.ts';
import type { Handoff } from '../etcd/observed-cluster.ts';
import { hostErrors } from '../host/errors.ts';
import type { Host } from '../host/host.ts';
import type { Inventory, InventoryMachine } from '../node-software/inventory.ts';
import { apiReadiness } from './api-readiness.ts';

const freshMs = 1_000;

export interface SeenApis {
  /** Names of the masters whose API server says that it is ready. */
  readonly ready: readonly string[];
  readonly bootstrapApi: Handoff['bootstrapApi'];
}

export class ApiProbes {
  readonly #host: Host;
  readonly #ca: string;
  #last: (SeenApis & { readonly atMs: number }) | undefined;

  constructor(host: Host, ca: string) {
    this.#host = host;
    this.#ca = ca;
  }

  async look({ machines }: Inventory): Promise<SeenApis> {
    const nowMs = this.#host.clock.monotonicMs();
    if (this.#last !== undefined && nowMs - this.#last.atMs < freshMs) return this.#last;
    const [answers, bootstrapApi] = await Promise.all([
      Promise.all(machines.filter(({ role }) => role === 'master').map((machine) => this.#ifReady(machine))),
      this.#bootstrap(machines.find(({ role }) => role === 'bootstrap')),
    ]);
    this.#last = { atMs: this.#host.clock.monotonicMs(), ready: answers.flat(), bootstrapApi };
    return this.#last;
  }

  async #ifReady({ name, addresses }: InventoryMachine): Promise<readonly string[]> {
    const { status } = await apiReadiness(this.#host, { url: urlOf(addresses), ca: this.#ca });
    return status === 'ready' ? [name] : [];
  }

  async #bootstrap(machine: InventoryMachine | undefined): Promise<SeenApis['bootstrapApi']> {
    if (machine === undefined) return 'closed';
    try {
      await this.#host.network.request({ url: `${urlOf(machine.addresses)}/readyz`, ca: this.#ca, timeoutMs: 1_000 });
      return 'answers';
    } catch (error) {
      if (!isError(error, hostErrors.NETWORK)) throw error;
      const isClosed = error.details['failure'] === 'refused' || error.details['failure'] === 'unreachable';
      return isClosed ? 'closed' : 'silent';
    }
  }
}

function urlOf(addresses: readonly string[]): string {
  return memberUrl(addresses[0] ?? '', apiPort);
}
