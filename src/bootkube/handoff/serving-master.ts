// A master whose API answers by itself. The load balancer would do as well, but may still send us to this machine.
import { join } from 'node:path';
import { pkiFolder } from '../../control-plane/control-plane-paths.ts';
import type { BootkubeContext } from '../context.ts';
import { apiIsReady } from '../local-api.ts';
import { apiPort } from '../../contract/ports.ts';

export async function aServingMaster({ host, inventory, names }: BootkubeContext): Promise<string> {
  const ca = await host.files.readText(join(pkiFolder, 'apiserver-ca.crt'));
  for (const { role, addresses } of inventory.machines) {
    if (role !== 'master') continue;
    const url = `https://${addresses[0]}:${apiPort}`;
    if ((await apiIsReady(host, url, ca)).status === 'ready') return url;
  }
  return names.apiInternalUrl;
}
