// Stage 13: starts everything that was rendered. It fails if a file differs from what its stage wrote, or if an object
// does not get into the API. Files that are already installed are not written again, so a second run does not touch
// running pods.
import { join } from 'node:path';
import { bootkubeJournal, handoffMark } from '../../contract/bootstrap-paths.ts';
import { clusterBootstrapWork } from '../../contract/bootstrap-stages.ts';
import { clusterVersionReference } from '../../contract/cluster-version.ts';
import { apiserverConfigFolder, kubernetesFolder, staticPodFolder } from '../../contract/machine-paths.ts';
import { type Missing, missingLine } from '../../contract/missing.ts';
import { localApiUrl } from '../../contract/ports.ts';
import { working } from '../../contract/stage-progress.ts';
import {
  componentOwner,
  controlPlaneComponents,
  makeReadFolder,
  makeWrittenFolders,
} from '../../control-plane/component-holdings.ts';
import { componentFolder, pkiFolder, podFile } from '../../control-plane/control-plane-paths.ts';
import { askReadiness } from '../../kubernetes/readiness.ts';
import { digestOf, digestOfRecord } from '../../workflow/digest.ts';
import { lastRecords } from '../../workflow/engine.ts';
import { readJournal } from '../../workflow/journal.ts';
import type { Digests, StageTools } from '../../workflow/stage.ts';
import { waitUntil } from '../../workflow/wait.ts';
import { firstClient } from '../api-clients.ts';
import { applyRendered } from '../apply-rendered.ts';
import type { ClusterVersion } from '../cluster-version.ts';
import type { BootkubeContext } from '../context.ts';
import { bootkubeErrors } from '../errors.ts';
import { apiProbe, etcdProbe, readApiCa } from '../readiness-probes.ts';
import {
  alteredFiles,
  type NumberedStage,
  type StageCheck,
  stageFolder,
  treeDigests,
  verifyStage,
} from '../render-stage.ts';
import { renderStages } from '../render-stages.ts';
import { credentialFolders, credentialStages } from '../rendered-credentials.ts';
import { seedPlaces } from '../rendered-manifests.ts';
import { clearStaleObjects } from '../restore/clear-stale-objects.ts';
import { restoreEtcd } from '../restore/restore-etcd.ts';
import { authentication } from './04-authentication.ts';

const minuteMs = 60_000;
const secretsLink = '/etc/kubernetes/bootstrap-secrets';
const podStages = [
  { number: 7, name: 'etcd', component: 'etcd' },
  { number: 8, name: 'kube-apiserver', component: 'kube-apiserver' },
  { number: 9, name: 'controller-manager', component: 'kube-controller-manager' },
  { number: 10, name: 'scheduler', component: 'kube-scheduler' },
] as const;

const dependents = new Set<string>([podFile('kube-controller-manager'), podFile('kube-scheduler')]);

const installedAsRendered: StageCheck = {
  name: 'pods and keys are in place as they were rendered',
  run: async (context) => notInPlace(context),
};

/** One object for all: each of them was answered for when it was applied. */
const apiKnowsRelease: StageCheck = {
  name: 'the API is ready, and names the release of this cluster',
  run: async (context) => {
    const api = await askReadiness(context.host, apiProbe(localApiUrl, await readApiCa(context.host)));
    if (api.status === 'waiting') return missingLine(api.missing);
    await using client = await firstClient(context.host, pkiFolder);
    const version = await client.find<ClusterVersion>(clusterVersionReference);
    const found = version?.spec?.clusterID ?? 'none';
    return found === context.clusterId ? undefined : `ClusterVersion version is of cluster ${found}`;
  },
};

export const clusterBootstrap: NumberedStage = {
  number: 13,
  name: 'cluster-bootstrap',
  why: 'Starts what was rendered: etcd, then the API server, then controller manager and scheduler. Then it puts every rendered object into the API.',
  inputs: renderStages.map(stageFolder),
  outputs: [
    '/etc/kubernetes/manifests/*-pod.yaml',
    '/etc/kubernetes/pki/*',
    ...controlPlaneComponents.map((component) => `${componentFolder(component)}/*`),
  ],
  observe: async (context, last) => {
    const { files } = context.host;
    if ((await files.facts(handoffMark)) !== undefined) return { status: 'done' };
    if (last === undefined) return { status: 'needed', because: 'nothing has been started yet' };
    const because = await notInPlace(context);
    if (because !== undefined) return { status: 'needed', because };
    const now = await stageDigests(context);
    const changed = Object.keys(now).find((folder) => now[folder] !== last.inputs[folder]);
    if (changed !== undefined) return { status: 'needed', because: `${changed} changed` };
    const api = await askReadiness(context.host, apiProbe(localApiUrl, await readApiCa(context.host)));
    return api.status === 'ready' ? { status: 'done' } : { status: 'needed', because: missingLine(api.missing) };
  },
  run: async (context, tools) => {
    await refuseAltered(context);
    await restoreEtcd(context, tools);
    // A client that starts before the API cannot work yet, and uses processor time that the API needs to start.
    await install(context, tools, (target) => !dependents.has(target));
    await waitForPods(context, tools);
    // Before the controller manager: until it runs, no new machine is admitted, and nothing acts on what is stale.
    await clearStaleObjects(context, tools);
    await install(context, tools, (target) => dependents.has(target));
    tools.report(working(clusterBootstrapWork.seedsApi));
    await using client = await firstClient(context.host, pkiFolder);
    const count = await applyRendered(context, client, { places: seedPlaces, tools });
    await verifyStage(context, clusterBootstrap);
    return { inputs: await stageDigests(context), note: `${count} objects in the API` };
  },
  verify: [installedAsRendered, apiKnowsRelease],
};

async function stageDigests({ host, folders }: BootkubeContext): Promise<Digests> {
  const entries = renderStages.map(async (stage) => {
    const folder = stageFolder(stage);
    return [folder, digestOfRecord(await treeDigests(host.files, join(folders.render, folder)))] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

async function refuseAltered(context: BootkubeContext): Promise<void> {
  const records = lastRecords(await readJournal(context.host.files, bootkubeJournal));
  for (const stage of renderStages) {
    const record = records.get(stage.name);
    const name = `${stage.number} (${stage.name})`;
    if (record === undefined) throw bootkubeErrors.NOT_RENDERED({ stage: name });
    const files = await alteredFiles(context, stage, record);
    if (files.length > 0) throw bootkubeErrors.ALTERED({ stage: name, files });
  }
}

/** Target path and content, in the order in which they must be written: keys before the pods that read them. */
async function installPlan({ host, folders }: BootkubeContext): Promise<readonly (readonly [string, Uint8Array])[]> {
  const read = async (from: string, to: string): Promise<readonly (readonly [string, Uint8Array])[]> => {
    const paths = Object.keys(await treeDigests(host.files, from)).sort();
    return Promise.all(paths.map(async (path) => [join(to, path), await host.files.read(join(from, path))] as const));
  };
  const keys = Object.values(credentialStages).flatMap((stage) =>
    credentialFolders.map((name) => read(join(folders.render, stageFolder(stage), name), join(kubernetesFolder, name))),
  );
  const issuers = read(join(folders.render, stageFolder(authentication)), apiserverConfigFolder);
  const pods = podStages.map(async ({ component, ...stage }) => {
    const from = join(folders.render, stageFolder(stage), `${component}-pod.yaml`);
    return [[podFile(component), await host.files.read(from)] as const];
  });
  return (await Promise.all([issuers, ...keys, ...pods])).flat();
}

async function notInPlace(context: BootkubeContext): Promise<string | undefined> {
  for (const [target, content] of await installPlan(context)) {
    const present = await context.host.files.readIfPresent(target);
    if (present === undefined || digestOf(present) !== digestOf(content)) return `${target} is not in place`;
  }
  return undefined;
}

async function install(context: BootkubeContext, tools: StageTools, isNow: (target: string) => boolean): Promise<void> {
  const { files } = context.host;
  await files.makeFolder(pkiFolder, { mode: 0o700 });
  await files.makeFolder(staticPodFolder);
  for (const component of controlPlaneComponents) {
    await makeReadFolder(context.host, component, componentFolder(component));
    await makeWrittenFolders(context.host, component);
  }
  if ((await files.facts(secretsLink)) === undefined) await files.symlink('pki', secretsLink);
  for (const [target, content] of await installPlan(context)) {
    if (!isNow(target)) continue;
    const present = await files.readIfPresent(target);
    if (present !== undefined && digestOf(present) === digestOf(content)) continue;
    const component = /manifests\/(.*)-pod\.yaml$/.exec(target)?.[1];
    if (component !== undefined) tools.report(working(`Starting ${component}-bootstrap...`));
    const isPublic = target.endsWith('.crt') || target.endsWith('.pub') || component !== undefined;
    const holder = controlPlaneComponents.find((each) => target.startsWith(`${componentFolder(each)}/`));
    const owner = holder === undefined ? undefined : componentOwner(context.host, holder);
    // What was lost with the power is seen to be missing, and installed again.
    await files.write(target, content, { mode: isPublic ? 0o644 : 0o600, isDurable: false, ...owner });
  }
}

async function waitForPods({ host }: BootkubeContext, tools: StageTools): Promise<void> {
  const ca = await readApiCa(host);
  const common = {
    clock: host.clock,
    signal: tools.signal,
    everyMs: 100,
    onMissing: (missing: readonly Missing[]) => tools.report({ missing }),
  };
  await waitUntil({
    ...common,
    what: 'the start of etcd',
    deadlineMs: 5 * minuteMs,
    probe: () => askReadiness(host, etcdProbe),
  });
  tools.report(working(clusterBootstrapWork.etcdAnswers));
  await waitUntil({
    ...common,
    what: 'the start of the API',
    deadlineMs: 10 * minuteMs,
    probe: () => askReadiness(host, apiProbe(localApiUrl, ca)),
  });
}
