// Stage 13: starts everything that was rendered. It fails if a file differs from what its stage wrote. Files that are
// already installed are not written again, so a second run does not touch running pods.
import { join } from 'node:path';
import { bootkubeJournal, handoffMark } from '../../contract/bootstrap-paths.ts';
import { clusterBootstrapWork } from '../../contract/bootstrap-stages.ts';
import { kubernetesFolder, staticPodFolder } from '../../contract/machine-paths.ts';
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
import { applyManifests } from '../../kubernetes/apply.ts';
import { askReadiness } from '../../kubernetes/readiness.ts';
import { digestOf, digestOfRecord } from '../../workflow/digest.ts';
import { lastRecords } from '../../workflow/engine.ts';
import { readJournal } from '../../workflow/journal.ts';
import type { Digests, StageTools } from '../../workflow/stage.ts';
import { waitUntil } from '../../workflow/wait.ts';
import { firstClient } from '../api-clients.ts';
import type { BootkubeContext } from '../context.ts';
import { bootkubeErrors } from '../errors.ts';
import { apiProbe, etcdProbe, readApiCa } from '../readiness-probes.ts';
import { alteredFiles, type NumberedStage, stageFolder, treeDigests } from '../render-stage.ts';
import { renderStages } from '../render-stages.ts';
import { renderedManifests, seedPlaces } from '../rendered-manifests.ts';

const minuteMs = 60_000;
const secretsLink = '/etc/kubernetes/bootstrap-secrets';
const podStages = [
  { number: 7, name: 'etcd' },
  { number: 8, name: 'kube-apiserver' },
  { number: 9, name: 'controller-manager' },
  { number: 10, name: 'scheduler' },
] as const;

const dependents = new Set<string>([podFile('kube-controller-manager'), podFile('kube-scheduler')]);

export const clusterBootstrap: NumberedStage = {
  number: 13,
  name: 'cluster-bootstrap',
  why: 'The kubelet starts what lies in its folder: first etcd, then the API, then those who need it.',
  inputs: renderStages.map(stageFolder),
  outputs: [
    '/etc/kubernetes/manifests/*-pod.yaml',
    '/etc/kubernetes/pki/*',
    ...controlPlaneComponents.map((component) => `${componentFolder(component)}/*`),
  ],
  verify: [
    { name: 'every rendered file has the digest that its stage recorded' },
    { name: 'etcd is ready' },
    { name: 'the API is ready' },
  ],
  observe: async (context, last) => {
    const { files } = context.host;
    if ((await files.facts(handoffMark)) !== undefined) return { status: 'done' };
    if (last === undefined) return { status: 'needed', because: 'nothing has been started yet' };
    const installed = await installPlan(context);
    for (const [target, content] of installed) {
      const present = await files.readIfPresent(target);
      if (present === undefined || digestOf(present) !== digestOf(content))
        return { status: 'needed', because: `${target} is not in place` };
    }
    const api = await askReadiness(context.host, apiProbe(localApiUrl, await readApiCa(context.host)));
    return api.status === 'ready' ? { status: 'done' } : { status: 'needed', because: missingLine(api.missing) };
  },
  run: async (context, tools) => {
    await refuseAltered(context);
    // A client that starts before the API cannot work yet, and uses processor time that the API needs to start.
    await install(context, tools, (target) => !dependents.has(target));
    await waitForPods(context, tools);
    await install(context, tools, (target) => dependents.has(target));
    tools.report(working(clusterBootstrapWork.seedsApi));
    const note = await seed(context, tools);
    return { inputs: await stageDigests(context), note };
  },
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
  const config = join(folders.render, stageFolder({ number: 5, name: 'config' }));
  const pods = podStages.map((stage) => read(join(folders.render, stageFolder(stage)), staticPodFolder));
  const lists = await Promise.all([read(config, kubernetesFolder), ...pods]);
  return lists.flat();
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

async function seed(context: BootkubeContext, tools: StageTools): Promise<string> {
  const manifests = await renderedManifests(context, seedPlaces);
  await using client = await firstClient(context.host, pkiFolder);
  const report = await applyManifests({
    client,
    host: context.host,
    manifests,
    deadlineMs: 10 * minuteMs,
    signal: tools.signal,
  });
  const refused = report.objects.filter((object) => object.state === 'refused');
  for (const object of refused) {
    context.emit({ kind: 'notice', level: 'warn', text: `${object.source}: ${object.reason ?? 'refused'}` });
  }
  return `${report.objects.length - refused.length} of ${report.objects.length} objects in the API`;
}
