// tectonic.service: applies the add-ons, and the configuration that machines were given, through the masters, after
// bootkube has ended. It then waits until the add-ons work and every expected machine is a node, because the next unit
// stops the config server that the last machines may need. The wait has a deadline: a machine that never
// joins must not stop the removal of the secrets from this machine.
import { systemNamespace } from '../contract/cluster-objects.ts';
import { type Missing, waitingFor } from '../contract/missing.ts';
import { isError } from '../errors/firstlight-error.ts';
import { applyManifests } from '../kubernetes/apply.ts';
import type { ApiCallOptions, KubernetesClient } from '../kubernetes/client.ts';
import { conditionsOf, hasCondition } from '../kubernetes/conditions.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { workflowErrors } from '../workflow/errors.ts';
import type { Stage, StageTools } from '../workflow/stage.ts';
import { type Observation, waitUntil } from '../workflow/wait.ts';
import { clientFor } from './api-clients.ts';
import type { BootkubeContext } from './context.ts';
import { addonPlaces, renderedManifests } from './rendered-manifests.ts';
import type { BootstrapService } from './run-service.ts';

const minuteMs = 60_000;

const addons: Stage<BootkubeContext> = {
  name: 'add-ons',
  why: 'A cluster without names is of little use, and the masters now carry what its name server needs.',
  observe: async () => ({ status: 'needed', because: 'to apply what is there already changes nothing' }),
  run: async (context, { signal }) => {
    await using client = await clientFor(context, context.names.apiInternalUrl);
    const manifests = await renderedManifests(context, addonPlaces);
    const { host } = context;
    const report = await applyManifests({ client, host, manifests, deadlineMs: 10 * minuteMs, signal });
    const failed = report.objects.filter(({ state }) => state === 'refused' || state === 'waiting');
    for (const { source, reason } of failed) {
      context.emit({ kind: 'notice', level: 'warn', text: `${source}: ${reason ?? 'not applied'}` });
    }
    return { note: `${report.objects.length - failed.length} objects` };
  },
};

const everybody: Stage<BootkubeContext> = {
  name: 'nodes',
  why: 'The last machine to join may still need what this machine serves.',
  observe: async () => ({ status: 'needed', because: 'who is there is looked at anew each time' }),
  run: async (context, tools) => {
    await using client = await clientFor(context, context.names.apiInternalUrl);
    return { note: await awaitEverybody(context, client, tools) };
  },
};

async function awaitEverybody(context: BootkubeContext, client: KubernetesClient, tools: StageTools): Promise<string> {
  try {
    await waitUntil({
      clock: context.host.clock,
      what: 'that the add-ons work and all machines are nodes',
      deadlineMs: 10 * minuteMs,
      everyMs: 200,
      signal: tools.signal,
      probe: () => lookAround(context, client, tools.signal),
      onMissing: (missing) => tools.report({ missing }),
    });
    return 'the add-ons work, all machines are nodes';
  } catch (error) {
    if (!isError(error, workflowErrors.DEADLINE)) throw error;
    context.emit({ kind: 'notice', level: 'warn', text: `${error.message}; the bootstrap ends without that` });
    return 'not everything is there';
  }
}

async function lookAround(
  { inventory }: BootkubeContext,
  client: KubernetesClient,
  signal: AbortSignal,
): Promise<Observation<true>> {
  const call = { signal, deadlineMs: 5_000 };
  try {
    const nodes = await client.list({ apiVersion: 'v1', kind: 'Node' }, {}, call);
    const dns = await client.find(
      { apiVersion: 'apps/v1', kind: 'Deployment', namespace: systemNamespace, name: 'coredns' },
      call,
    );
    const names = new Set(nodes.items.map(({ metadata }) => metadata.name));
    const expected = inventory.isClosed ? inventory.machines.filter(({ role }) => role !== 'bootstrap') : [];
    const missing = [
      ...(isAvailable(dns) ? [] : [waitingFor('CoreDNS', 'is not available', await whyNot(client, call))]),
      ...expected.filter(({ name }) => !names.has(name)).map(({ name }) => waitingFor(name, 'is not a node')),
    ];
    return missing.length === 0 ? { status: 'ready', value: true } : { status: 'waiting', missing };
  } catch (error) {
    signal.throwIfAborted();
    return { status: 'waiting', missing: [waitingFor(error instanceof Error ? error.message : String(error))] };
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
