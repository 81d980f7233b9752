// From what is known to what is to be done. Nothing on the node is changed here, except that update_engine is asked for
// an update where the flags say so; every input is read before the first action, so that a missing file costs nothing.
import { dirname, join } from 'node:path';
import type { TorcxAction } from './actions.ts';
import type { Bucket } from './bucket.ts';
import { openBucket } from './bucket.ts';
import type { TorcxContext } from './context.ts';
import { nodePaths, reasonOf } from './context.ts';
import { renderKubeletEnv } from './env-file.ts';
import { torcxErrors } from './errors.ts';
import { type InstallImage, planImage } from './images.ts';
import { tagOf } from './kube-version.ts';
import { type Ledger, record } from './ledger.ts';
import { learnNextOs } from './next-os.ts';
import { compareOsVersions } from './os-version.ts';
import { packageLists } from './package-lists.ts';
import { addOn, type PickedVersion, pickVersion } from './pick.ts';
import { planProfile } from './plan-profile.ts';
import { readRunningDocker } from './running-docker.ts';
import { type Keyring, readKeyring } from './signature.ts';
import { type Known, askCluster, readInput, readRunningOs } from './sources.ts';
import type { Torcx } from './torcx.ts';
import { torcxBinary } from './torcx-binary.ts';
import { nativeTorcx } from './torcx-native.ts';

export interface TorcxDecision {
  readonly actions: readonly TorcxAction[];
  readonly torcx: Torcx;
  readonly bucket: Bucket;
}

export async function decideTorcx(context: TorcxContext, ledger: Ledger): Promise<TorcxDecision> {
  const { settings } = context;
  const os = await readRunningOs(context);
  learn(context, ledger, 'running OS', { ...os, value: `${os.value.version} (${os.value.board})` });
  const torcx = openTorcx(context, os.value.version);
  const template = await readTemplate(context);
  const keyring = settings.skipsSetup ? undefined : await loadKeyring(context);
  if (!settings.skipsSetup) await torcx.probe();
  const cluster = await askCluster(context, !settings.skipsSetup);
  learn(context, ledger, 'Kubernetes', cluster.kubernetes);
  if (cluster.preferences !== undefined) {
    learn(context, ledger, 'docker that fits', { ...cluster.preferences, value: cluster.preferences.value.join(', ') });
  }
  const bucket = await openBucket(context);
  const next = await learnNextOs(context, ledger);
  if (next.kind === 'unknown') {
    conclude(context, ledger, 'the next OS version is unknown: reboot first, change nothing, and decide on the new OS');
    return { torcx, bucket, actions: planned(ledger, [{ kind: 'reboot', because: 'an OS update waits for it' }]) };
  }
  const nextOs = next.kind === 'version' ? next.version : undefined;
  const pick =
    cluster.preferences === undefined
      ? undefined
      : await choose(context, ledger, {
          runningOs: os.value.version,
          nextOs,
          preferences: cluster.preferences.value,
          lists: packageLists(context, { bucket, board: os.value.board, keyring }),
        });
  const setup = await planSetup(context, ledger, { pick, torcx, runningOs: os.value.version });
  const isOsNew = settings.upgradesOs && nextOs !== undefined;
  const kubeletEnv = template === undefined ? [] : planKubeletEnv(context, template, cluster.kubernetes.value);
  const ending =
    settings.role === 'hook'
      ? await planHookEnding(context, os.value.version, nextOs)
      : planBootstrapEnding(await dockerChange(context, ledger, pick), isOsNew ? nextOs : undefined, kubeletEnv);
  return { torcx, bucket, actions: planned(ledger, [...setup, ...ending]) };
}

function planned(ledger: Ledger, actions: readonly TorcxAction[]): readonly TorcxAction[] {
  if (actions.length === 0) ledger.conclusions.push('nothing is to be changed');
  return actions;
}

function openTorcx(context: TorcxContext, runningOs: string): Torcx {
  const { torcxBin } = context.settings;
  return torcxBin === undefined ? nativeTorcx(context, runningOs) : torcxBinary(context.host, torcxBin, context.signal);
}

/** Needed even when the version comes from the cluster: kubelet.env is made from it. */
async function readTemplate(context: TorcxContext): Promise<string | undefined> {
  const path = context.settings.kubeletEnvPath;
  if (path === undefined) return undefined;
  const folder = await context.host.files.facts(context.at(dirname(path)));
  if (folder === undefined) throw torcxErrors.INPUT({ path, reason: 'its folder does not exist' });
  return readInput(context, nodePaths.installerKubeletEnv);
}

async function loadKeyring(context: TorcxContext): Promise<Keyring | undefined> {
  const { host, settings, at } = context;
  if (!settings.verifiesSignatures) {
    context.say('warn', 'signatures are not verified: whoever controls the bucket controls this node');
    return undefined;
  }
  await readInput(context, settings.keyring);
  const keyring = await readKeyring(await host.files.read(at(settings.keyring))).catch((error: unknown) => {
    throw torcxErrors.INPUT({ path: settings.keyring, reason: reasonOf(error) }, { cause: error });
  });
  if (keyring.unreadable > 0) context.say('warn', `${settings.keyring}: ${keyring.unreadable} keys cannot be read`);
  return keyring;
}

async function choose(
  context: TorcxContext,
  ledger: Ledger,
  input: Omit<Parameters<typeof pickVersion>[0], 'needsRunningOs'>,
): Promise<PickedVersion> {
  const pick = await pickVersion({ ...input, needsRunningOs: context.settings.role === 'hook' });
  for (const because of pick.because) conclude(context, ledger, because);
  for (const doubt of pick.doubts) {
    ledger.conclusions.push(doubt);
    context.say('warn', doubt);
  }
  return pick;
}

interface SetupInput {
  readonly pick: PickedVersion | undefined;
  readonly torcx: Torcx;
  readonly runningOs: string;
}

async function planSetup(context: TorcxContext, ledger: Ledger, input: SetupInput): Promise<readonly TorcxAction[]> {
  const { pick, torcx, runningOs } = input;
  if (pick?.status !== 'picked') return [];
  const images: InstallImage[] = [];
  for (const target of pick.targets) {
    const plan = await planImage(context, target, { torcx, runningOs });
    if (plan.status === 'present') {
      conclude(context, ledger, plan.note);
      continue;
    }
    // The same archive for a second OS version is copied from the first: it is fetched once.
    const twin = images.find(({ hash }) => hash.toLowerCase() === plan.action.hash.toLowerCase());
    const origin = twin === undefined ? plan.action.origin : { kind: 'copy' as const, path: context.at(twin.target) };
    images.push({ ...plan.action, origin });
  }
  return [...images, ...(await planProfile(context, torcx, { name: addOn, reference: pick.reference }))];
}

function planKubeletEnv(context: TorcxContext, template: string, version: string): readonly TorcxAction[] {
  const path = context.settings.kubeletEnvPath ?? '';
  return [{ kind: 'write-kubelet-env', path, content: renderKubeletEnv(template, tagOf(version)) }];
}

/** Why docker will be another one after the next boot; undefined when it stays the same. */
async function dockerChange(
  context: TorcxContext,
  ledger: Ledger,
  pick: PickedVersion | undefined,
): Promise<string | undefined> {
  if (pick?.status !== 'picked') return undefined;
  const running = await readRunningDocker(context);
  const value = running.status === 'known' ? running.reference : 'unknown';
  const notes = running.status === 'known' ? [] : [running.because];
  learn(context, ledger, 'running docker', { value, from: nodePaths.runningProfile, instead: notes });
  if (running.status === 'known' && running.reference === pick.reference) return undefined;
  return `docker ${pick.reference} follows ${running.status === 'known' ? running.reference : 'an unknown version'}`;
}

/** Clearing docker's data must be in place before the node counts as ready; kubelet.env is the last word before a reboot. */
function planBootstrapEnding(
  dockerChanges: string | undefined,
  newOs: string | undefined,
  kubeletEnv: readonly TorcxAction[],
): readonly TorcxAction[] {
  const reasons = [
    ...(newOs === undefined ? [] : [`OS ${newOs} is ready`]),
    ...(dockerChanges === undefined ? [] : [dockerChanges]),
  ];
  return [
    ...(dockerChanges === undefined ? [] : [{ kind: 'clear-docker-data' as const, because: dockerChanges }]),
    ...kubeletEnv,
    ...(reasons.length === 0 ? [] : [{ kind: 'reboot' as const, because: reasons.join('; ') }]),
  ];
}

async function planHookEnding(
  context: TorcxContext,
  runningOs: string,
  nextOs: string | undefined,
): Promise<readonly TorcxAction[]> {
  const { nodeAnnotation, nodeName } = context.settings;
  const stores = nextOs === undefined ? [] : await oldStores(context, runningOs);
  const annotation =
    nodeAnnotation === undefined || nodeName === undefined
      ? []
      : [{ kind: 'annotate-node' as const, node: nodeName, annotation: nodeAnnotation }];
  return [...stores.map((path) => ({ kind: 'remove-store' as const, path })), ...annotation];
}

/** Stores of OS versions older than the running one: a rollback never goes further back than that. */
export async function oldStores({ host, at }: TorcxContext, runningOs: string): Promise<readonly string[]> {
  const old: string[] = [];
  for (const name of (await host.files.list(at(nodePaths.userStore))) ?? []) {
    const path = join(nodePaths.userStore, name);
    if (!/^\d+\.\d+\.\d+$/.test(name) || compareOsVersions(name, runningOs) >= 0) continue;
    if ((await host.files.facts(at(path)))?.kind === 'folder') old.push(path);
  }
  return old;
}

function learn(context: TorcxContext, ledger: Ledger, topic: string, known: Known<string>): void {
  record(ledger, topic, { value: known.value, from: known.from, notes: known.instead });
  context.say('info', `${topic}: ${known.value} (${known.from})`);
}

function conclude(context: TorcxContext, ledger: Ledger, text: string): void {
  ledger.conclusions.push(text);
  context.say('debug', text);
}
