// tectonic.service: applies the version operator, what names need, and the configuration that machines were given,
// through the masters, after bootkube has ended. It then waits until names work, the operator has once been through the
// whole release, and every expected machine is a node, because the next unit stops the config server that the last
// machines may need. It fails, and its unit tries again, as long as one of the first two is missing; a machine that
// never joins must not stop the removal of the secrets from this machine for longer than the wait.
import { systemNamespace } from '../contract/cluster-objects.ts';
import { clusterVersionReference, enabledCapabilities, versionOperator } from '../contract/cluster-version.ts';
import { type Missing, waitingFor } from '../contract/missing.ts';
import { isError } from '../errors/firstlight-error.ts';
import type { ApiCallOptions, KubernetesClient } from '../kubernetes/client.ts';
import { hasCondition } from '../kubernetes/conditions.ts';
import { judgeWorkloads, type Workload } from '../operators/judge-workloads.ts';
import { workflowErrors } from '../workflow/errors.ts';
import type { Stage, StageTools } from '../workflow/stage.ts';
import { type Observation, waitUntil } from '../workflow/wait.ts';
import { clientFor } from './api-clients.ts';
import { applyRendered } from './apply-rendered.ts';
import type { ClusterVersion } from './cluster-version.ts';
import type { BootkubeContext } from './context.ts';
import { addonPlaces, configurationPlaces } from './rendered-manifests.ts';
import type { BootstrapService } from './run-service.ts';

const minuteMs = 60_000;

const addons: Stage<BootkubeContext> = {
  name: 'add-ons',
  why: 'A cluster without names is of little use, and the masters now carry what its name server and the version operator need.',
  observe: async () => ({ status: 'needed', because: 'to apply what is there already changes nothing' }),
  run: async (context, tools) => {
    await using client = await clientFor(context, context.names.apiInternalUrl);
    const count = await applyRendered(context, client, { places: addonPlaces, tools });
    return { note: `${count} objects` };
  },
};

const everybody: Stage<BootkubeContext> = {
  name: 'nodes',
  why: 'The last machine to join may still need what this machine serves.',
  observe: async () => ({ status: 'needed', because: 'who is there is looked at anew each time' }),
  run: async (context, tools) => {
    await using client = await clientFor(context, context.names.apiInternalUrl);
    return { note: await settle(context, client, tools) };
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

async function awaitEverybody(context: BootkubeContext, client: KubernetesClient, tools: StageTools): Promise<string> {
  let seen: Surroundings = { addons: [], machines: [] };
  try {
    await waitUntil({
      clock: context.host.clock,
      what: 'that the add-ons work, the version operator has been through the release, and all machines are nodes',
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
  context: BootkubeContext,
  client: KubernetesClient,
  signal: AbortSignal,
): Promise<Surroundings> {
  const { inventory } = context;
  const call = { signal, deadlineMs: 5_000 };
  try {
    const [nodes, version] = await Promise.all([
      client.list({ apiVersion: 'v1', kind: 'Node' }, {}, call),
      client.find<ClusterVersion>(clusterVersionReference, call),
    ]);
    const names = new Set(nodes.items.map(({ metadata }) => metadata.name));
    const expected = inventory.isClosed ? inventory.machines.filter(({ role }) => role !== 'bootstrap') : [];
    const hasNames = enabledCapabilities(version?.spec?.capabilities).includes('DNS');
    // A cluster that is brought back has been through its release once, and its operator goes on by itself.
    const isPassed = context.restore !== undefined || (version !== undefined && hasCondition(version, 'FirstPassDone'));
    return {
      addons: [
        ...(hasNames ? await nameServerMissing(context, client, call) : []),
        ...(isPassed ? [] : [await operatorMissing(context, client, call)]),
      ],
      machines: expected.filter(({ name }) => !names.has(name)).map(({ name }) => waitingFor(name, 'is not a node')),
    };
  } catch (error) {
    signal.throwIfAborted();
    // Nothing is known of the add-ons.
    return { addons: [waitingFor(error instanceof Error ? error.message : String(error))], machines: [] };
  }
}

const nameServer: Workload = { kind: 'Deployment', namespace: systemNamespace, name: 'coredns' };
const operator: Workload = { kind: 'Deployment', ...versionOperator };

async function nameServerMissing(
  context: BootkubeContext,
  client: KubernetesClient,
  call: ApiCallOptions,
): Promise<readonly Missing[]> {
  const { isSo, message } = await availability(context, client, { workload: nameServer, call });
  return isSo ? [] : [waitingFor('CoreDNS', 'is not available', { detail: message })];
}

async function operatorMissing(
  context: BootkubeContext,
  client: KubernetesClient,
  call: ApiCallOptions,
): Promise<Missing> {
  const { isSo, message } = await availability(context, client, { workload: operator, call });
  if (isSo) return waitingFor('the version operator', 'has not been through the release yet');
  return waitingFor('the version operator', 'does not run', { detail: message });
}

/** Whether its pods serve; if not, what the scheduler or the kubelet says of them. */
async function availability(
  { host, release }: BootkubeContext,
  client: KubernetesClient,
  { workload, call }: { readonly workload: Workload; readonly call: ApiCallOptions },
) {
  const { namespace } = workload;
  const [found, pods] = await Promise.all([
    client.find({ apiVersion: 'apps/v1', ...workload }, call),
    client.list({ apiVersion: 'v1', kind: 'Pod' }, { namespace }, call),
  ]);
  const seen = { version: release.version, capabilities: [], now: host.clock.now() };
  const objects = (kind: string) => (kind === 'Pod' ? pods.items : found === undefined ? [] : [found]);
  return judgeWorkloads({ ...seen, objects }, [workload]).available;
}

/** All stages of tectonic.service. */
export const addonService: BootstrapService = { name: 'tectonic', stages: [addons, everybody] };
