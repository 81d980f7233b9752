// tectonic.service: applies the add-ons, and the configuration that machines were given, through the masters, after
// bootkube has ended. It then waits until the add-ons work and every expected machine is a node, because the next unit
// stops the config server that the last machines may need. It fails, and its unit tries again, as long as an add-on is
// missing; a machine that never joins must not stop the removal of the secrets from this machine for longer than the
// wait.
import { systemNamespace } from '../contract/cluster-objects.ts';
import { type Missing, waitingFor } from '../contract/missing.ts';
import { FirstlightError, isError } from '../errors/firstlight-error.ts';
import type { ApiCallOptions, KubernetesClient } from '../kubernetes/client.ts';
import { conditionsOf, hasCondition } from '../kubernetes/conditions.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { workflowErrors } from '../workflow/errors.ts';
import type { Stage, StageTools } from '../workflow/stage.ts';
import { type Observation, waitUntil } from '../workflow/wait.ts';
import { clientFor } from './api-clients.ts';
import { applyRendered } from './apply-rendered.ts';
import { reportVersion } from './cluster-version.ts';
import type { BootkubeContext } from './context.ts';
import { addonPlaces, configurationPlaces } from './rendered-manifests.ts';
import type { BootstrapService } from './run-service.ts';

const minuteMs = 60_000;

const addons: Stage<BootkubeContext> = {
  name: 'add-ons',
  why: 'A cluster without names is of little use, and the masters now carry what its name server needs.',
  observe: async () => ({ status: 'needed', because: 'to apply what is there already changes nothing' }),
  run: async (context, tools) => {
    await using client = await clientFor(context, context.names.apiInternalUrl);
    try {
      const count = await applyRendered(context, client, { places: addonPlaces, tools });
      return { note: `${count} objects` };
    } catch (error) {
      await reportFailure(context, client, error);
      throw error;
    }
  },
};

const everybody: Stage<BootkubeContext> = {
  name: 'nodes',
  why: 'The last machine to join may still need what this machine serves.',
  observe: async () => ({ status: 'needed', because: 'who is there is looked at anew each time' }),
  run: async (context, tools) => {
    await using client = await clientFor(context, context.names.apiInternalUrl);
    try {
      const note = await settle(context, client, tools);
      await reportVersion(context, client, { missing: [], hasFailed: false });
      return { note };
    } catch (error) {
      tools.signal.throwIfAborted();
      await reportFailure(context, client, error);
      throw error;
    }
  },
};

/** Nobody waits for the configuration objects: they are applied while the add-ons start. A failure ends both. */
async function settle(context: BootkubeContext, client: KubernetesClient, tools: StageTools): Promise<string> {
  const over = new AbortController();
  const both = { ...tools, signal: AbortSignal.any([tools.signal, over.signal]) };
  const waiting = awaitEverybody(context, client, both);
  const applying = applyRendered(context, client, { places: configurationPlaces, tools: both });
  try {
    const [note, count] = await Promise.all([waiting, applying]);
    return `${note}; ${count} objects of configuration`;
  } finally {
    over.abort(new Error('the other part has failed'));
    await Promise.allSettled([waiting, applying]);
  }
}

/** Whoever looks at the cluster reads why it is not complete. The failure itself is more important than this report. */
async function reportFailure(context: BootkubeContext, client: KubernetesClient, failure: unknown): Promise<void> {
  const missing = [failure instanceof Error ? failure.message : String(failure)];
  try {
    await reportVersion(context, client, { missing, hasFailed: true });
  } catch (error) {
    if (!(error instanceof FirstlightError)) throw error;
  }
}

async function awaitEverybody(context: BootkubeContext, client: KubernetesClient, tools: StageTools): Promise<string> {
  let seen: Surroundings = { addons: [], machines: [] };
  try {
    await waitUntil({
      clock: context.host.clock,
      what: 'that the add-ons work and all machines are nodes',
      deadlineMs: 10 * minuteMs,
      everyMs: 200,
      signal: tools.signal,
      probe: async (): Promise<Observation<true>> => {
        seen = await lookAround(context, client, tools.signal);
        const missing = [...seen.addons, ...seen.machines];
        return missing.length === 0 ? { status: 'ready', value: true } : { status: 'waiting', missing };
      },
      onMissing: (missing) => tools.report({ missing }),
    });
    return 'the add-ons work, all machines are nodes';
  } catch (error) {
    if (!isError(error, workflowErrors.DEADLINE)) throw error;
    // Without its add-ons the cluster is of no use, so the unit tries again. Without one machine it is of use.
    if (seen.addons.length > 0) throw error;
    context.emit({ kind: 'notice', level: 'warn', text: `${error.message}; the bootstrap ends without that` });
    return 'the add-ons work, not all machines are nodes';
  }
}

/** What is missing. */
interface Surroundings {
  readonly addons: readonly Missing[];
  readonly machines: readonly Missing[];
}

async function lookAround(
  { inventory }: BootkubeContext,
  client: KubernetesClient,
  signal: AbortSignal,
): Promise<Surroundings> {
  const call = { signal, deadlineMs: 5_000 };
  try {
    const nodes = await client.list({ apiVersion: 'v1', kind: 'Node' }, {}, call);
    const dns = await client.find(
      { apiVersion: 'apps/v1', kind: 'Deployment', namespace: systemNamespace, name: 'coredns' },
      call,
    );
    const names = new Set(nodes.items.map(({ metadata }) => metadata.name));
    const expected = inventory.isClosed ? inventory.machines.filter(({ role }) => role !== 'bootstrap') : [];
    return {
      addons: isAvailable(dns) ? [] : [waitingFor('CoreDNS', 'is not available', await whyNot(client, call))],
      machines: expected.filter(({ name }) => !names.has(name)).map(({ name }) => waitingFor(name, 'is not a node')),
    };
  } catch (error) {
    signal.throwIfAborted();
    // Nothing is known of the add-ons.
    return { addons: [waitingFor(error instanceof Error ? error.message : String(error))], machines: [] };
  }
}

/** Why the pods of CoreDNS do not run: the message of the scheduler or the kubelet. */
async function whyNot(client: KubernetesClient, call: ApiCallOptions): Promise<Pick<Missing, 'detail'>> {
  const selection = { namespace: systemNamespace, labelSelector: 'k8s-app=kube-dns' };
  const { items } = await client.list({ apiVersion: 'v1', kind: 'Pod' }, selection, call);
  if (items.length === 0) return { detail: 'it has no pods yet' };
  const said = items.flatMap(conditionsOf).find(({ status, message }) => status === 'False' && message !== '')?.message;
  return said === undefined ? {} : { detail: said.split('. ', 1)[0] ?? said };
}

function isAvailable(deployment: KubernetesObject | undefined): boolean {
  return deployment !== undefined && hasCondition(deployment, 'Available');
}

/** All stages of tectonic.service. */
export const addonService: BootstrapService = { name: 'tectonic', stages: [addons, everybody] };
