// The start of the daemon on a machine that Ignition has just made: the config that was served is the one that it has.
// Copies texts as they are: this runs while the machine joins the cluster, and reading the config would cost memory.
import { dirname } from 'node:path';
import { daemonFiles, nodeConfigAnnotations } from '../contract/machine-config-node.ts';
import { ignitionPreset } from '../contract/machine-paths.ts';
import type { Host } from '../host/host.ts';
import { jsonIfValid } from '../host/json-if-valid.ts';
import type { MachineConfig } from '../machine-config/machine-config.ts';
import type { AppliedConfig } from './applied-config.ts';
import { configDaemonErrors } from './errors.ts';

type MachineFiles = Pick<Host, 'files'>;

/** True when something was done. The order makes a repetition harmless: the file that is looked for goes last. */
export async function adoptServedConfig({ files }: MachineFiles): Promise<boolean> {
  if ((await files.facts(daemonFiles.encapsulated)) === undefined) return false;
  if ((await files.facts(daemonFiles.currentConfig)) === undefined) {
    const served = await files.readIfPresent(daemonFiles.servedMachineConfig);
    if (served !== undefined) {
      await files.makeFolder(dirname(daemonFiles.currentConfig));
      await files.write(daemonFiles.currentConfig, served, { mode: 0o600 });
    }
  }
  // `systemctl preset` would follow it for ever, whatever later configs say.
  await files.remove(ignitionPreset);
  await files.rename(daemonFiles.encapsulated, daemonFiles.encapsulatedDone);
  return true;
}

/**
 * The config that the machine has, without a judgement: it was judged before it was written. Undefined on a machine
 * that was made without one.
 */
export async function readOwnConfig({ files }: MachineFiles): Promise<AppliedConfig | undefined> {
  const content = await files.readIfPresent(daemonFiles.currentConfig);
  if (content === undefined) return undefined;
  const { metadata, spec } = (jsonIfValid(content) ?? {}) as Partial<Pick<MachineConfig, 'metadata' | 'spec'>>;
  if (metadata === undefined || spec === undefined) {
    throw configDaemonErrors.UNREADABLE({ source: daemonFiles.currentConfig, reason: 'it has no name or no spec' });
  }
  return { name: metadata.name, spec };
}

/**
 * What a Node begins with: the file that the config server added, or, where the Node was made anew, what the machine
 * has. Undefined when the Node has its annotations already.
 */
export async function seedAnnotations(
  { files }: MachineFiles,
  { present, current }: { readonly present: Readonly<Record<string, string>>; readonly current: string },
): Promise<Readonly<Record<string, string>> | undefined> {
  if (present[nodeConfigAnnotations.desired] !== undefined) return undefined;
  const content =
    (await files.readIfPresent(daemonFiles.nodeAnnotations)) ??
    (await files.readIfPresent(daemonFiles.nodeAnnotationsDone));
  const seeds = content === undefined ? {} : ((jsonIfValid(content) ?? {}) as Readonly<Record<string, string>>);
  const firstPivot = seeds[nodeConfigAnnotations.firstPivot];
  return {
    [nodeConfigAnnotations.desired]: current,
    ...(firstPivot === undefined ? {} : { [nodeConfigAnnotations.firstPivot]: firstPivot }),
  };
}

/** The Node has its annotations: the file is not needed again. */
export async function keepSeedsAside({ files }: MachineFiles): Promise<void> {
  if ((await files.facts(daemonFiles.nodeAnnotations)) === undefined) return;
  await files.rename(daemonFiles.nodeAnnotations, daemonFiles.nodeAnnotationsDone);
}
