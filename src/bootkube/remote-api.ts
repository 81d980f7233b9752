// The API as others see it: through the internal name, or one machine directly. The identity is that of the loopback
// kubeconfig, a member of the bound administrators.
import { join } from 'node:path';
import { connectKubernetes, type KubernetesClient } from '../kubernetes/client.ts';
import type { BootkubeContext } from './context.ts';
import { loopbackKubeconfigPath } from '../contract/asset-folder.ts';

export async function clientFor({ host, folders }: BootkubeContext, server: string): Promise<KubernetesClient> {
  const text = await host.files.readText(join(folders.assets, loopbackKubeconfigPath));
  return connectKubernetes(host, { text: text.replace(/server: .*/, `server: ${server}`) });
}
