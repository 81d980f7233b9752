// Collects the facts about a cluster: from its platform, from inside every machine that runs, and from the API. What
// cannot be read is left out, because a diagnosis must not fail when the cluster is broken.

import { systemNamespace } from '../contract/cluster-objects.ts';
import { clusterOperatorKind, clusterVersionReference } from '../contract/cluster-version.ts';
import { attemptKind, readAttempt } from '../contract/in-place.ts';
import { machineConfigPoolKind } from '../contract/machine-config-pool.ts';
import type { Missing } from '../contract/missing.ts';
import { apiPort, configServerPort } from '../contract/ports.ts';
import { FirstlightError, isError } from '../errors/firstlight-error.ts';
import type { Host } from '../host/host.ts';
import { jsonIfValid } from '../host/json-if-valid.ts';
import { attemptView, newestOfEachNode, stillFor } from '../in-place/attempt-view.ts';
import type { ApiCallOptions, KubernetesClient } from '../kubernetes/client.ts';
import { conditionsOf } from '../kubernetes/conditions.ts';
import { kubernetesErrors } from '../kubernetes/errors.ts';
import type { KubernetesObject, ObjectKind } from '../kubernetes/object.ts';
import { viewOperators, viewRelease } from '../operators/operator-view.ts';
import type { PlacedCluster, Platform } from '../platform/platform.ts';
import { viewPools } from '../pool-rollout/pool-view.ts';
import type { ApiFacts, DiagnosedAttempt, DiagnosedMachine, DiagnosisFacts } from './facts.ts';
import { type InsideFacts, insideFactsSchema } from './inside/inside-facts.ts';

/** What a machine reports in the files that it writes. */
export type MachineReports = Pick<DiagnosedMachine, 'name' | 'firstBoot' | 'agent'>;

export interface CollectFactsOptions {
  readonly host: Host;
  readonly platform: Platform;
  /** The platform's name of the cluster. */
  readonly name: string;
  /** Undefined where the platform has no machines of the cluster: then all facts come from the API. */
  readonly placed: PlacedCluster | undefined;
  readonly reports: readonly MachineReports[];
  /** See DiagnosisFacts. */
  readonly heldBefore: string | undefined;
  readonly missing: readonly Missing[];
  readonly client: KubernetesClient;
  readonly signal: AbortSignal;
}

/** More than `machine-facts` needs when every one of its attempts times out. */
const insideMs = 15_000;

export async function collectFacts(options: CollectFactsOptions): Promise<DiagnosisFacts> {
  const { platform, name: cluster, placed, reports, missing, heldBefore } = options;
  if (placed === undefined) return { ...elsewhere, missing, api: await askApi(options) };
  const known = await platform.listMachines(cluster);
  const running = await platform.observeProcesses(cluster);
  const balancer = { name: `api-int.${placed.domain}`, address: placed.balancerAddress };
  const machines = known.map(async ({ name, role, address }): Promise<DiagnosedMachine> => {
    const isRunning = running.machines.has(name);
    const report = reports.find((one) => one.name === name);
    const peers = known.filter((other) => other.name !== name && runsEtcd(other) && running.machines.has(other.name));
    const etcdPeers = runsEtcd({ role }) ? peers.map((peer) => peer.address) : [];
    const seen = isRunning ? await lookInside(options, { balancer, machine: name, etcdPeers }) : undefined;
    return {
      name,
      role,
      address,
      isRunning,
      firstBoot: report?.firstBoot,
      agent: report?.agent,
      inside: seen?.inside,
      clockAheadMs: seen?.clockAheadMs ?? 0,
    };
  });
  const [looked, api] = await Promise.all([Promise.all(machines), askApi(options)]);
  return {
    apiInternal: balancer,
    isBalancerRunning: running.isBalancerRunning,
    ...(heldBefore === undefined ? {} : { heldBefore }),
    machines: looked,
    missing,
    api,
  };
}

function runsEtcd({ role }: Pick<DiagnosedMachine, 'role'>): boolean {
  return role !== 'worker';
}

const elsewhere = { apiInternal: { name: '', address: '' }, isBalancerRunning: true, machines: [] } as const;

interface SeenInside {
  readonly inside: InsideFacts;
  readonly clockAheadMs: number;
}

interface LookTarget {
  readonly balancer: DiagnosisFacts['apiInternal'];
  readonly machine: string;
  readonly etcdPeers: readonly string[];
}

async function lookInside(
  { host, platform, name: cluster, signal }: CollectFactsOptions,
  { balancer, machine, etcdPeers }: LookTarget,
): Promise<SeenInside | undefined> {
  const ports = [configServerPort, apiPort].flatMap((port) => ['--port', String(port)]);
  const peers = etcdPeers.flatMap((address) => ['--etcd-peer', address]);
  const about = ['--name', balancer.name, '--balancer', balancer.address, ...ports, ...peers];
  try {
    const sentMs = host.clock.now().getTime();
    const command = ['firstlight', 'machine-facts', ...about];
    const enter = await platform.commandInside?.({ cluster, machine }, { command });
    if (enter === undefined) return undefined;
    const [program, ...args] = enter;
    const { code, stdout } = await host.processes.run(program, args, { timeoutMs: insideMs, signal });
    const receivedMs = host.clock.now().getTime();
    if (code !== 0) return undefined;
    // Output that is cut off or of another version is left out.
    const facts = insideFactsSchema.safeParse(jsonIfValid(stdout)).data;
    if (facts === undefined) return undefined;
    return { inside: facts, clockAheadMs: clockAhead(Date.parse(facts.now), { sentMs, receivedMs }) };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof FirstlightError) return undefined;
    throw error;
  }
}

/** The machine read its clock between the two times; only a difference beyond both of them is certain. */
export function clockAhead(
  saidMs: number,
  { sentMs, receivedMs }: { readonly sentMs: number; readonly receivedMs: number },
): number {
  if (saidMs > receivedMs) return saidMs - receivedMs;
  return saidMs < sentMs ? saidMs - sentMs : 0;
}

async function askApi({ host, client, signal }: CollectFactsOptions): Promise<ApiFacts | undefined> {
  const call = { signal, deadlineMs: 5_000 };
  try {
    const [nodes, pods, pools, attempts, operators, versions] = await Promise.all([
      client.list({ apiVersion: 'v1', kind: 'Node' }, {}, call),
      client.list({ apiVersion: 'v1', kind: 'Pod' }, { namespace: systemNamespace }, call),
      listIfKnown(client, machineConfigPoolKind, call),
      listIfKnown(client, attemptKind, call),
      listIfKnown(client, clusterOperatorKind, call),
      listIfKnown(client, clusterVersionReference, call),
    ]);
    const [version] = versions;
    return {
      conditions: nodes.items.flatMap(nodeConditions),
      waiting: pods.items.flatMap(waitingIn),
      pools: viewPools(pools, nodes.items),
      attempts: diagnosedAttempts(attempts, nodes.items, host.clock.now()),
      operators: viewOperators(operators),
      release: version === undefined ? undefined : viewRelease(version),
    };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof FirstlightError) return undefined;
    throw error;
  }
}

/** None while the API does not know the kind. */
async function listIfKnown(
  client: KubernetesClient,
  kind: ObjectKind,
  call: ApiCallOptions,
): Promise<readonly KubernetesObject[]> {
  try {
    return (await client.list(kind, {}, call)).items;
  } catch (error) {
    if (isError(error, kubernetesErrors.NO_SUCH_KIND)) return [];
    throw error;
  }
}

function diagnosedAttempts(
  attempts: readonly KubernetesObject[],
  nodes: readonly KubernetesObject[],
  now: Date,
): readonly DiagnosedAttempt[] {
  const views = attempts.flatMap((object) => readAttempt(object) ?? []).map(attemptView);
  const isCordoned = (name: string): boolean => {
    const spec = nodes.find(({ metadata }) => metadata.name === name)?.['spec'];
    return (spec as { readonly unschedulable?: boolean } | undefined)?.unschedulable === true;
  };
  return newestOfEachNode(views).map((attempt) => ({
    attempt,
    stillMs: stillFor(attempt, now),
    isCordoned: isCordoned(attempt.node),
  }));
}

function nodeConditions(node: KubernetesObject): ApiFacts['conditions'] {
  const { name } = node.metadata;
  return conditionsOf(node).map(({ type, status, message }) => ({ node: name, type, status, message }));
}

interface PodStatus {
  readonly containerStatuses?: readonly {
    readonly state?: { readonly waiting?: { readonly reason?: string; readonly message?: string } };
  }[];
}

function waitingIn({ metadata, ...pod }: KubernetesObject): ApiFacts['waiting'] {
  const { nodeName: node } = (pod['spec'] ?? {}) as { readonly nodeName?: string };
  const { containerStatuses = [] } = (pod['status'] ?? {}) as PodStatus;
  if (node === undefined) return [];
  return containerStatuses.flatMap(({ state }) => {
    const { reason, message = '' } = state?.waiting ?? {};
    return reason === undefined ? [] : [{ pod: metadata.name, node, reason, message }];
  });
}
