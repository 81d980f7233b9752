// What stage B removes: files and units that the former configuration of this machine has and the new one has not, and
// additions to managed units that no configuration wrote, which would change what those units do.
import { posix } from 'node:path';
import { originalPath } from '../../config-daemon/originals.ts';
import { wantedState } from '../../config-daemon/wanted-state.ts';
import { daemonFiles } from '../../contract/machine-config-node.ts';
import { unitFolder } from '../../contract/machine-paths.ts';
import type { Files } from '../../host/files.ts';
import type { Host } from '../../host/host.ts';
import { jsonIfValid } from '../../host/json-if-valid.ts';
import type { MachineConfigSpec } from '../../machine-config/machine-config.ts';
import type { MachineVariables } from '../payload/kube-playbook.ts';
import type { StageTouches } from '../payload/payload-manifest.ts';

/** In the order in which they count. */
const formerConfigs = [daemonFiles.currentConfig, daemonFiles.servedMachineConfig];

export async function formerLeftovers({ files }: Host, next: StageTouches): Promise<MachineVariables> {
  const staying = new Set(next.paths.map(({ path }) => path));
  const former = await formerState(files);
  const paths = [...(former?.nodes.values() ?? [])]
    .filter(({ kind, path }) => (kind === 'file' || kind === 'link') && !staying.has(path))
    .map(({ path }) => path);
  const left = [...new Set([...paths, ...(await foreignAdditions(files, staying))])];
  return {
    ipb_former: await Promise.all(left.map(async (path) => ({ path, original: await keptOriginal(files, path) }))),
    ipb_former_units: [...(former?.units.values() ?? [])]
      .filter(({ name, hasContents }) => hasContents && !staying.has(`${unitFolder}/${name}`))
      .map(({ name }) => name),
  };
}

async function formerState(files: Files): Promise<ReturnType<typeof wantedState> | undefined> {
  for (const path of formerConfigs) {
    const content = await files.readIfPresent(path);
    const { spec } = (jsonIfValid(content ?? '') ?? {}) as { readonly spec?: MachineConfigSpec };
    // A wrecked machine may have anything there: what is no config says nothing about what it left.
    if (spec?.config?.ignition !== undefined) return wantedState(spec);
  }
  return undefined;
}

/** Files in `<unit>.d` of units that the new configuration brings. */
async function foreignAdditions(files: Files, staying: ReadonlySet<string>): Promise<readonly string[]> {
  const units = [...staying].filter((path) => posix.dirname(path) === unitFolder);
  const found: string[] = [];
  for (const unit of units) {
    for (const name of (await files.list(`${unit}.d`)) ?? []) found.push(`${unit}.d/${name}`);
  }
  return found.filter((path) => path.endsWith('.conf') && !staying.has(path));
}

async function keptOriginal(files: Files, path: string): Promise<string> {
  const original = originalPath(path);
  return (await files.facts(original))?.kind === 'file' ? original : '';
}
