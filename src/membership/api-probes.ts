// Which masters serve the API, and whether the bootstrap machine still does. Each machine gets its own request; an
// answer is kept for a moment, so that frequent looks cost little.
import type { Inventory, InventoryMachine } from '../contract/inventory.ts';
import { apiPort, httpsUrl } from '../contract/ports.ts';
import { isError } from '../errors/firstlight-error.ts';
import { hostErrors } from '../host/errors.ts';
import type { Host } from '../host/host.ts';
import type { HttpClient } from '../host/network.ts';
import { apiReadiness } from '../kubernetes/readiness.ts';
import { StandingQuestions } from '../workflow/standing-questions.ts';
import type { Handoff } from './observed-cluster.ts';

/** Long enough to save requests, short enough that the handoff does not wait for it. */
const freshMs = 200;
/** An API server that is starting accepts a connection long before it answers. */
const patienceMs = 300;

export interface SeenApis {
  /** Names of the masters whose API server reports that it is ready. */
  readonly ready: readonly string[];
  readonly bootstrapApi: Handoff['bootstrapApi'];
}

type Answer = 'ready' | 'not ready' | Handoff['bootstrapApi'];

export class ApiProbes {
  readonly #host: Host;
  readonly #ca: string;
  /** For requests to masters: only a new connection shows whether the bootstrap machine still accepts connections. */
  readonly #kept: HttpClient;
  readonly #questions: StandingQuestions<Answer>;

  constructor(host: Host, { ca, kept }: { readonly ca: string; readonly kept: HttpClient }) {
    this.#host = host;
    this.#ca = ca;
    this.#kept = kept;
    this.#questions = new StandingQuestions({ clock: host.clock, freshMs, patienceMs });
  }

  async look({ machines }: Inventory): Promise<SeenApis> {
    const masters = machines.filter(({ role }) => role === 'master');
    const bootstrap = machines.find(({ role }) => role === 'bootstrap');
    const answers = await this.#questions.look(
      new Map([
        ...masters.map((machine) => [machine.name, () => this.#readiness(machine)] as const),
        ...(bootstrap === undefined ? [] : [[bootstrap.name, () => this.#bootstrap(bootstrap)] as const]),
      ]),
    );
    const said = bootstrap === undefined ? 'closed' : answers.get(bootstrap.name);
    return {
      ready: masters.filter(({ name }) => answers.get(name) === 'ready').map(({ name }) => name),
      bootstrapApi: said === 'answers' || said === 'closed' ? said : 'silent',
    };
  }

  async #readiness({ addresses }: InventoryMachine): Promise<Answer> {
    const { status } = await apiReadiness({ network: this.#kept }, { url: urlOf(addresses), ca: this.#ca });
    return status === 'ready' ? 'ready' : 'not ready';
  }

  async #bootstrap({ addresses }: InventoryMachine): Promise<Answer> {
    try {
      await this.#host.network.request({ url: `${urlOf(addresses)}/readyz`, ca: this.#ca, timeoutMs: 1_000 });
      return 'answers';
    } catch (error) {
      if (!isError(error, hostErrors.NETWORK)) throw error;
      const isClosed = error.details.failure === 'refused' || error.details.failure === 'unreachable';
      return isClosed ? 'closed' : 'silent';
    }
  }
}

function urlOf(addresses: readonly string[]): string {
  return httpsUrl(addresses[0] ?? '', apiPort);
}
