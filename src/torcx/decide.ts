// Decides from what is known which actions a run needs. It changes nothing on the node, except that it asks
// update_engine for an update if the flags say so. All inputs are read before the first action is carried out, so a
// missing file never leaves a node half prepared.
import { dirname, join } from 'node:path';
import type { TorcxAction } from './actions.ts';
import { type Bucket, openBucket } from './bucket.ts';
import { nodePaths, reasonOf, type TorcxContext } from './context.ts';
import { type DecisionLog, recordFact } from './decision-log.ts';
import { renderKubeletEnv } from './env-file.ts';
import { torcxErrors } from './errors.ts';
import { type InstallImage, planImage } from './images.ts';
import { imageTagOf } from './kubernetes-version.ts';
import { type ListMemory, openListMemory } from './list-memory.ts';
import { learnNextOs } from './next-os.ts';
import { type Keyring, readKeyring } from './openpgp-signature.ts';
import { compareOsVersions } from './operating-system.ts';
import { packageLists } from './package-lists.ts';
import { addOnName, type PickedVersion, pickVersion } from './pick-version.ts';
import { parseProfile } from './profile.ts';
import { askCluster, type Known, readInput, readRunningDocker, readRunningOs } from './sources.ts';
import type { Torcx } from './torcx.ts';
import { builtInTorcx } from './torcx-built-in.ts';
import { torcxProgram } from './torcx-program.ts';

export interface TorcxDecision {
  readonly actions: readonly TorcxAction[];
  readonly torcx: Torcx;
  readonly bucket: Bucket;
}

export async function decideTorcx(given: TorcxContext, log: DecisionLog): Promise<TorcxDecision> {
  const { os, context } = await meetOs(given, log);
  const { settings } = context;
  const torcx = openTorcx(context, os.version);
  const template = await readTemplate(context);
  const keyring = settings.skipsSetup ? undefined : await loadKeyring(context);
  if (!settings.skipsSetup) await torcx.probe();
  const cluster = await askCluster(context, !settings.skipsSetup);
  learn(context, log, 'Kubernetes', cluster.kubernetes);
  if (cluster.preferences !== undefined) {
    learn(context, log, 'docker that fits', { ...cluster.preferences, value: cluster.preferences.value.join(', ') });
  }
  const bucket = await openBucket(context);
  const next = await learnNextOs(context, log);
  if (next.kind === 'unknown') {
    conclude(context, log, 'the next OS version is unknown: reboot first, change nothing, and decide on the new OS');
    return { torcx, bucket, actions: planned(log, [{ kind: 'reboot', because: 'an OS update waits for it' }]) };
  }
  const nextOs = next.kind === 'version' ? next.version : undefined;
  const memory = await openListMemory(context);
  const pick =
    cluster.preferences === undefined
      ? undefined
      : await choose(context, log, {
          runningOs: os.version,
          nextOs,
          preferences: cluster.preferences.value,
          lists: packageLists(context, { bucket, board: os.board, keyring, memory }),
        });
  const setup = await planSetup(context, log, { pick, torcx, memory, runningOs: os.version });
  const isOsNew = settings.upgradesOs && nextOs !== undefined;
  const kubeletEnv = template === undefined ? [] : planKubeletEnv(context, template, cluster.kubernetes.value);
  const ending =
    settings.role === 'hook'
      ? await planHookEnding(context, os.version, nextOs)
      : planBootstrapEnding(await dockerChange(context, log, pick), isOsNew ? nextOs : undefined, kubeletEnv);
  return { torcx, bucket, actions: planned(log, [...setup, ...ending]) };
}

interface MetOs {
  readonly os: { readonly version: string; readonly board: string };
  /** As given, or with everything left out that only a system with torcx has. */
  readonly context: TorcxContext;
}

/** A system without torcx packages takes the way of --torcx-skip-setup, and nobody is asked for an update of it. */
async function meetOs(context: TorcxContext, log: DecisionLog): Promise<MetOs> {
  const { value: os, ...source } = await readRunningOs(context);
  if (os.hasTorcx) {
    learn(context, log, 'running OS', { ...source, value: `${os.version} (${os.board})` });
    return { os, context };
  }
  learn(context, log, 'running OS', { ...source, value: os.name });
  const note = `there are no torcx packages for ${os.name}: add-ons, profiles and OS updates are left alone`;
  log.conclusions.push(note);
  context.say('warn', note);
  const settings = { ...context.settings, skipsSetup: true, upgradesOs: false };
  return { os: { version: '', board: '' }, context: { ...context, settings } };
}

function planned(log: DecisionLog, actions: readonly TorcxAction[]): readonly TorcxAction[] {
  if (actions.length === 0) log.conclusions.push('nothing is to be changed');
  return actions;
}

function openTorcx(context: TorcxContext, runningOs: string): Torcx {
  const { torcxBin } = context.settings;
  return torcxBin === undefined
    ? builtInTorcx(context, runningOs)
    : torcxProgram(context.host, torcxBin, context.signal);
}

/** The template of kubelet.env: needed even if the cluster states the version. */
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
  log: DecisionLog,
  input: Omit<Parameters<typeof pickVersion>[0], 'needsRunningOs'>,
): Promise<PickedVersion> {
  const pick = await pickVersion({ ...input, needsRunningOs: context.settings.role === 'hook' });
  for (const because of pick.because) conclude(context, log, because);
  for (const doubt of pick.doubts) {
    log.conclusions.push(doubt);
    context.say('warn', doubt);
  }
  return pick;
}

interface SetupInput {
  readonly pick: PickedVersion | undefined;
  readonly torcx: Torcx;
  readonly memory: ListMemory;
  readonly runningOs: string;
}

async function planSetup(context: TorcxContext, log: DecisionLog, input: SetupInput): Promise<readonly TorcxAction[]> {
  const { pick, torcx, memory, runningOs } = input;
  if (pick?.status !== 'picked') return [];
  const images: InstallImage[] = [];
  for (const target of pick.targets) {
    const plan = await planImage(context, target, { torcx, runningOs });
    if (plan.status === 'present') {
      conclude(context, log, plan.note);
      continue;
    }
    // The same archive for a second OS version is copied from the first one, so it is downloaded once.
    const twin = images.find(({ hash }) => hash.toLowerCase() === plan.action.hash.toLowerCase());
    const origin = twin === undefined ? plan.action.origin : { kind: 'copy' as const, path: context.at(twin.target) };
    images.push({ ...plan.action, origin });
  }
  const content = memory.changed();
  return [
    ...images,
    ...(content === undefined ? [] : [{ kind: 'remember-lists' as const, path: nodePaths.acceptedLists, content }]),
    ...(await planProfile(context, torcx, { name: addOnName, reference: pick.reference })),
  ];
}

function planKubeletEnv(context: TorcxContext, template: string, version: string): readonly TorcxAction[] {
  const path = context.settings.kubeletEnvPath ?? '';
  return [{ kind: 'write-kubelet-env', path, content: renderKubeletEnv(template, imageTagOf(version)) }];
}

/** Why the next boot has another docker version; undefined if the version stays the same. */
async function dockerChange(
  context: TorcxContext,
  log: DecisionLog,
  pick: PickedVersion | undefined,
): Promise<string | undefined> {
  if (pick?.status !== 'picked') return undefined;
  const running = await readRunningDocker(context);
  const value = running.status === 'known' ? running.reference : 'unknown';
  const notes = running.status === 'known' ? [] : [running.because];
  learn(context, log, 'running docker', { value, from: nodePaths.runningProfile, instead: notes });
  if (running.status === 'known' && running.reference === pick.reference) return undefined;
  return `docker ${pick.reference} follows ${running.status === 'known' ? running.reference : 'an unknown version'}`;
}

/** kubelet.env means that the node is ready: it is written after the cleanup of docker's data is planned. */
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

/** Stores of OS versions older than the running one; a rollback never boots an OS older than that. */
async function oldStores({ host, at }: TorcxContext, runningOs: string): Promise<readonly string[]> {
  const old: string[] = [];
  for (const name of (await host.files.list(at(nodePaths.userStore))) ?? []) {
    const path = join(nodePaths.userStore, name);
    if (!/^\d+\.\d+\.\d+$/.test(name) || compareOsVersions(name, runningOs) >= 0) continue;
    if ((await host.files.facts(at(path)))?.kind === 'folder') old.push(path);
  }
  return old;
}

function learn(context: TorcxContext, log: DecisionLog, topic: string, known: Known<string>): void {
  recordFact(log, topic, { value: known.value, from: known.from, notes: known.instead });
  context.say('info', `${topic}: ${known.value} (${known.from})`);
}

function conclude(context: TorcxContext, log: DecisionLog, text: string): void {
  log.conclusions.push(text);
  context.say('debug', text);
}

/** The add-on goes into the profile of the next boot, or into our own where none is set or it is the OS's `vendor`. */
async function planProfile(
  context: TorcxContext,
  torcx: Torcx,
  image: { readonly name: string; readonly reference: string },
): Promise<readonly TorcxAction[]> {
  const { next, names } = await torcx.listProfiles();
  const isNextUsable = next !== undefined && next !== 'vendor';
  const profile = isNextUsable ? next : context.settings.profile;
  const isNew = !names.includes(profile);
  const content = await context.host.files.readIfPresent(context.at(join(nodePaths.userProfiles, `${profile}.json`)));
  // torcx would refuse the edit too, but only after the images are installed.
  if (!isNew && content === undefined && context.settings.torcxBin === undefined) {
    throw torcxErrors.TORCX({
      operation: `profile use-image ${profile}`,
      reason: 'the profile belongs to the OS and cannot be edited; copy it to /etc/torcx/profiles',
    });
  }
  if (next === profile && hasImage(content, image)) return [];
  return [{ kind: 'use-profile', profile, isNew, ...image }];
}

function hasImage(content: Uint8Array | undefined, image: { name: string; reference: string }): boolean {
  if (content === undefined) return false;
  try {
    const { images } = parseProfile(Buffer.from(content).toString('utf8'));
    return images.some((entry) => entry.name === image.name && entry.reference === image.reference);
  } catch {
    return false;
  }
}
