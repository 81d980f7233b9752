// Where this host reaches the API of a cluster that has machines here: a port of this host, which the platform chooses
// with the first machine. The kubeconfigs of administrators follow it. Certificates of the API contain 127.0.0.1, so
// they trust the same authorities as before.
import { join } from 'node:path';
import { apiEndpointText } from '../assets/api-endpoint.ts';
import { createAssets } from '../assets/create-assets.ts';
import { adminKubeconfig, breakGlassKubeconfig } from '../assets/kubeconfigs.ts';
import { adminKubeconfigPath, apiEndpointPath, breakGlassKubeconfigPath } from '../contract/asset-folder.ts';
import type { Host } from '../host/host.ts';
import { writeIfChanged } from '../host/write-if-changed.ts';
import type { ChangeContext, PlacedCluster } from '../platform/platform.ts';
import type { Emit } from '../workflow/events.ts';

export interface HostEndpointOptions extends ChangeContext {
  readonly host: Host;
  readonly dir: string;
  readonly placed: PlacedCluster;
}

/** Nothing happens where this host reaches the API by its name. */
export async function placeHostEndpoint({ host, dir, placed, emit, signal }: HostEndpointOptions): Promise<void> {
  const { apiEndpoint } = placed;
  if (apiEndpoint === undefined) return;
  const path = join(dir, apiEndpointPath);
  await writeIfChanged(host.files, { path, text: apiEndpointText(apiEndpoint), mode: 0o600 });
  const targets = [adminKubeconfig, breakGlassKubeconfig];
  // The install-config is read once more. Its warnings were told when the assets of the machines were made.
  const unlessTold: Emit = (event) => {
    if (event.kind !== 'notice' || event.level !== 'warn') emit(event);
  };
  await createAssets({ host, dir, targets, purpose: 'create cluster', emit: unlessTold, signal });
}

/** The kubeconfigs that led there go first, also when a person has changed them: nothing is there any more. */
export async function removeHostEndpoint({ files }: Host, dir: string): Promise<void> {
  if ((await files.facts(join(dir, apiEndpointPath))) === undefined) return;
  for (const path of [adminKubeconfigPath, breakGlassKubeconfigPath, apiEndpointPath]) {
    await files.remove(join(dir, path));
  }
}
