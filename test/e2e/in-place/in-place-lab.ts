// What the tests of the in-place bootstrapper share: attempts as the API has them, how one is begun and waited for, and a
// picture of a host that shows whether anything on it was changed.
import { inPlaceLease, systemNamespace } from '../../../src/contract/cluster-objects.ts';
import {
  attemptFiles,
  attemptKind,
  attemptSecretName,
  type InPlaceAttempt,
  type InPlacePhase,
  inPlaceFiles,
  inPlaceNamespace,
  readAttempt,
  scheduledValue,
  scheduleLabels,
} from '../../../src/contract/in-place.ts';
import { unitFolder } from '../../../src/contract/machine-paths.ts';
import { isEnd } from '../../../src/in-place/phases.ts';
import type { KubernetesClient } from '../../../src/kubernetes/client.ts';
import type { KubernetesObject } from '../../../src/kubernetes/object.ts';
import {
  applyMachineConfig,
  applyObjects,
  type ConfigCluster,
  disruptionPolicies,
  eventuallySeen,
  liveFolder,
  pause,
  poolReference,
  poolSight,
  type TestFile,
  type TestMachineConfig,
  withApi,
} from '../machine-config/config-lab.ts';
import { cli, inside } from '../machine-lab.ts';

/** Every phase of a route-one attempt that ends well. */
export const goodPhases: readonly InPlacePhase[] = [
  'Scheduled',
  'Preflight',
  'Ready',
  'KubeletStopped',
  'LabelCleared',
  'Applying',
  'Rebooting',
  'Booted',
  'Joining',
  'Restoring',
  'Succeeded',
];

export const nodeReference = (name: string) => ({ apiVersion: 'v1', kind: 'Node', name }) as const;

export const secretReference = (node: string) =>
  ({ apiVersion: 'v1', kind: 'Secret', namespace: inPlaceNamespace, name: attemptSecretName(node) }) as const;

/** All attempts of a node, oldest first. */
export async function attemptsOf(api: KubernetesClient, node: string): Promise<readonly InPlaceAttempt[]> {
  const { items } = await api.list(attemptKind);
  const age = ({ metadata }: KubernetesObject): string => metadata.creationTimestamp ?? '';
  return [...items]
    .sort((a, b) => age(a).localeCompare(age(b)))
    .flatMap((item) => readAttempt(item) ?? [])
    .filter(({ spec }) => spec.node === node);
}

/** Makes the Secret of an attempt as a person does; the id of the attempt. */
export async function prepare(cluster: ConfigCluster, node: string, ...more: readonly string[]): Promise<string> {
  const said = await cli('ipb', 'prepare', node, ...more, '-o', 'json', '--dir', cluster.dir);
  return (JSON.parse(said) as { readonly attemptId: string }).attemptId;
}

/** Cordons and labels; ends when that is done. */
export async function start(cluster: ConfigCluster, node: string): Promise<void> {
  await cli('ipb', 'start', node, '--no-wait', '--dir', cluster.dir);
}

/** Cordons, then labels, by hand: as the document says it, without the program and its questions. */
export async function startByHand(cluster: ConfigCluster, node: string): Promise<void> {
  await withApi(cluster, async (api) => {
    await api.mergePatch(nodeReference(node), { spec: { unschedulable: true } });
    await api.mergePatch(nodeReference(node), { metadata: { labels: { [scheduleLabels[0]]: scheduledValue } } });
  });
}

/** Changes keys of the Secret, as somebody with a mistake in mind would have written them. */
export async function changeSecret(
  cluster: ConfigCluster,
  node: string,
  changes: Readonly<Record<string, string>>,
): Promise<void> {
  await withApi(cluster, (api) => api.mergePatch(secretReference(node), { stringData: changes }));
}

/** Waits for what an attempt is to be; what was seen last is in the message when that does not happen. */
export async function untilAttempt(
  cluster: ConfigCluster,
  { attemptId, what, seconds }: { readonly attemptId: string; readonly what: string; readonly seconds: number },
  is: (attempt: InPlaceAttempt) => boolean,
): Promise<InPlaceAttempt> {
  return withApi(cluster, async (api) => {
    const endMs = performance.now() + seconds * 1000;
    for (;;) {
      // An API that moves from one master to another may miss a call.
      const { items } = await api.list(attemptKind).catch(() => ({ items: [] }));
      const found = items.flatMap((item) => readAttempt(item) ?? []).find(({ spec }) => spec.attemptId === attemptId);
      if (found !== undefined && is(found)) return found;
      if (performance.now() > endMs)
        throw new Error(`${what} did not happen within ${seconds} s: ${JSON.stringify(found?.status, undefined, 1)}`);
      await pause(100);
    }
  });
}

export async function untilEnded(cluster: ConfigCluster, attemptId: string, seconds: number): Promise<InPlaceAttempt> {
  return untilAttempt(cluster, { attemptId, what: `the end of attempt ${attemptId}`, seconds }, ({ status }) =>
    isEnd(status.phase),
  );
}

/** The phase is reached or passed, by what the machine or the controller says. */
export async function untilPhase(
  cluster: ConfigCluster,
  { attemptId, phase, seconds }: { readonly attemptId: string; readonly phase: InPlacePhase; readonly seconds: number },
): Promise<InPlaceAttempt> {
  return untilAttempt(cluster, { attemptId, what: `phase ${phase}`, seconds }, ({ status }) =>
    [...status.history, ...status.report.phases].some((entry) => entry.phase === phase),
  );
}

/** The phases of an attempt in the order in which the controller took note of them. */
export function phasesOf({ status }: InPlaceAttempt): readonly InPlacePhase[] {
  return status.history.map(({ phase }) => phase);
}

/**
 * Every file of a host with its owner, mode, size and time, what is in those that decide how it works, and every unit with
 * its states; without what a machine at rest changes by itself.
 */
const picture = [
  `cd / && find etc usr/local var/lib/ipb boot opt root -xdev -printf '%p %y %m %U %G %s %T@ %l\\n' 2>/dev/null | sort`,
  'find etc var/lib/ipb boot opt root -xdev -type f -exec sha256sum {} + 2>/dev/null | sort -k 2',
  'systemctl list-unit-files --no-legend --no-pager',
  `systemctl list-units --all --type=service,socket,timer --no-legend --no-pager --plain | awk '{print $1, $3}' | grep -v '^run-\\|^ipb-'`,
  'systemctl show kubelet firstlight-agent --property=Id,MainPID,ActiveState,NRestarts',
].join('; ');

export async function pictureOfHost(cluster: ConfigCluster, machine: string): Promise<string> {
  return inside(cluster.infraId(), machine, picture);
}

/** A file of the MachineConfig of these tests; no unit has to do anything when it changes. */
export const inPlaceFile = (word: string): string => `${liveFolder}/in-place-${word}`;

/** The same MachineConfig with another file: the one before must be gone wherever this one has arrived. */
export function inPlaceConfig(word: string, ...more: readonly TestFile[]): TestMachineConfig {
  return { name: '61-proof-in-place', files: [{ path: inPlaceFile(word), text: `${word}\n` }, ...more] };
}

/** Pauses the pool of the workers and gives it another target, which no node gets but by the bootstrapper. */
export async function targetInPlace(
  cluster: ConfigCluster,
  word: string,
  ...more: readonly TestFile[]
): Promise<string> {
  const before = await withApi(cluster, (api) => poolSight(api, 'worker'));
  await setPaused(cluster, true);
  await applyObjects(cluster, disruptionPolicies());
  await applyMachineConfig(cluster, inPlaceConfig(word, ...more));
  const { target } = await eventuallySeen(cluster, { what: 'another target of the pool', seconds: 20 }, async (api) => {
    const sight = await poolSight(api, 'worker');
    return sight.target === before.target ? undefined : sight;
  });
  return target;
}

export async function setPaused(cluster: ConfigCluster, paused: boolean, pool = 'worker'): Promise<void> {
  await withApi(cluster, (api) => api.mergePatch(poolReference(pool), { spec: { paused } }));
}

/** The master whose agent holds the Lease of the controller. */
export async function controllerOf(cluster: ConfigCluster): Promise<string> {
  return withApi(cluster, async (api) => {
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace: systemNamespace };
    const { spec } = await api.get({ ...lease, name: inPlaceLease });
    const holder = (spec as { holderIdentity?: string }).holderIdentity ?? '';
    return /^(master-\d+)/.exec(holder)?.[1] ?? 'master-0';
  });
}

/** What is left of attempts on a machine; systemd removes the program of the last one a moment after its end. */
export async function leftOnHost(on: (script: string) => Promise<string>, { spec }: InPlaceAttempt): Promise<string> {
  const { folder } = attemptFiles(spec.attemptId);
  await on(`for i in $(seq 100); do test -e ${folder} || break; sleep 0.1; done`);
  return on(`ls -A ${inPlaceFiles.folder}; ls ${unitFolder} | grep ipb || echo no unit`);
}

export const onlyTheState = /^(lock\n)?state\.json\nno unit\n$/;
