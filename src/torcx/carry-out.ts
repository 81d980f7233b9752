// Carries out the decided actions in order. Every action can be repeated after a kill. kubelet.env and the reboot
// belong together: while a reboot is owed, a marker in /run says that kubelet.env does not mean "ready" yet, and if the
// reboot fails, kubelet.env is removed again.
import { dirname, join } from 'node:path';
import { describeAction, type TorcxAction } from './actions.ts';
import type { Bucket } from './bucket.ts';
import { openClusterApi } from './cluster-api.ts';
import { nodePaths, reasonOf, type TorcxContext } from './context.ts';
import { torcxErrors } from './errors.ts';
import { installImage } from './images.ts';
import { connectSystemd, type SystemdBus } from './systemd.ts';
import type { Torcx } from './torcx.ts';

interface ActionTools {
  readonly torcx: Torcx;
  readonly bucket: Bucket;
}

/** True if the machine is rebooting now. */
export async function carryOut(
  context: TorcxContext,
  actions: readonly TorcxAction[],
  tools: ActionTools,
): Promise<boolean> {
  const needsSystemd = actions.some(({ kind }) => kind === 'reboot' || kind === 'clear-docker-data');
  // Connect before the first change: a node that cannot be rebooted must not be half prepared for a reboot.
  await using systemd = needsSystemd ? await connectSystemd(context) : undefined;
  await removeLeftovers(context);
  const owesReboot = actions.some(({ kind }) => kind === 'reboot');
  let written: string | undefined;
  for (const action of actions) {
    // After kubelet.env is written, a stop before the reboot would start the kubelet on the wrong docker.
    if (written === undefined) context.signal.throwIfAborted();
    context.say('info', describeAction(action));
    if (action.kind === 'write-kubelet-env') {
      await writeKubeletEnv(context, action, owesReboot);
      written = action.path;
    } else if (action.kind === 'reboot') await rebootOrRemoveEnv(context, systemd, written);
    else await perform(context, action, { ...tools, systemd });
  }
  if (!owesReboot) await context.host.files.remove(context.at(nodePaths.rebootOwed));
  return owesReboot;
}

type PlainAction = Exclude<TorcxAction, { kind: 'write-kubelet-env' | 'reboot' }>;

async function perform(
  context: TorcxContext,
  action: PlainAction,
  { torcx, bucket, systemd }: ActionTools & { readonly systemd: SystemdBus | undefined },
): Promise<void> {
  switch (action.kind) {
    case 'install-image':
      return installImage(context, bucket, action);
    case 'use-profile': {
      const { profile, isNew, name, reference } = action;
      if (isNew) await torcx.newProfile(profile);
      await torcx.useImage(profile, { name, reference });
      return torcx.setNext(profile);
    }
    case 'remember-lists':
      await context.host.files.makeFolder(context.at(dirname(action.path)));
      return context.host.files.write(context.at(action.path), action.content, { mode: 0o600 });
    case 'clear-docker-data':
      return systemd?.enableCleanupUnit();
    case 'remove-store':
      return context.host.files.remove(context.at(action.path)).catch((error: unknown) => {
        context.say('warn', `${action.path} stays: ${reasonOf(error)}`);
      });
    case 'annotate-node':
      return annotate(context, action.node, action.annotation);
  }
}

async function writeKubeletEnv(
  context: TorcxContext,
  { path, content }: Extract<TorcxAction, { kind: 'write-kubelet-env' }>,
  owesReboot: boolean,
): Promise<void> {
  const { host, at } = context;
  if (owesReboot) {
    await host.files.makeFolder(at(nodePaths.runFolder));
    await host.files.write(at(nodePaths.rebootOwed), 'kubelet.env was written for the system that boots next\n');
  }
  await host.files.write(at(path), content, { mode: 0o644 });
}

async function rebootOrRemoveEnv(
  context: TorcxContext,
  systemd: SystemdBus | undefined,
  kubeletEnv: string | undefined,
): Promise<void> {
  const { host, settings, at } = context;
  try {
    await systemd?.reboot(settings.rebootDeadlineMs);
  } catch (error) {
    if (kubeletEnv !== undefined) await host.files.remove(at(kubeletEnv));
    await host.files.remove(at(nodePaths.rebootOwed));
    throw error;
  }
}

async function annotate(context: TorcxContext, node: string, annotation: string): Promise<void> {
  try {
    using api = await openClusterApi(context);
    await api.annotateNode(node, annotation, 'true');
  } catch (error) {
    context.signal.throwIfAborted();
    throw torcxErrors.ANNOTATION({ node, reason: reasonOf(error) }, { cause: error });
  }
}

const temporaryName = /^\.(.+)\.[0-9a-f]{12}\.tmp$/;

/**
 * Removes temporary files that a killed run left: only names that the host gives to its temporary files, only beside
 * files that torcx writes, and only while the lock is held.
 */
async function removeLeftovers({ host, settings, at }: TorcxContext): Promise<void> {
  const { files } = host;
  const stores = (await files.list(at(nodePaths.userStore))) ?? [];
  const places: readonly (readonly [string, RegExp])[] = [
    ...stores.map((name) => [join(nodePaths.userStore, name), /^docker:.*\.torcx\.tgz$/] as const),
    [dirname(nodePaths.acceptedLists), /^accepted-lists\.json$/],
    [nodePaths.userProfiles, /\.json$/],
    [dirname(nodePaths.nextProfile), /^next-profile$/],
    [dirname(nodePaths.cleanupUnit), /^torcx-docker-cleanup\.service$/],
    [nodePaths.runFolder, /^torcx-reboot-owed$/],
    ...(settings.kubeletEnvPath === undefined ? [] : [[dirname(settings.kubeletEnvPath), /^kubelet\.env$/] as const]),
  ];
  for (const [folder, ours] of places) {
    for (const name of (await files.list(at(folder))) ?? []) {
      const target = temporaryName.exec(name)?.[1];
      if (target !== undefined && ours.test(target)) await files.remove(join(at(folder), name));
    }
  }
}
