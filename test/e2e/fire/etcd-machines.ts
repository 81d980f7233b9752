// Where the members of a cluster's etcd are, from its asset folder and the platform's record.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The machines that carry a member at some time. */
export function etcdMachines(dir: string): readonly { readonly name: string; readonly address: string }[] {
  const { machines } = JSON.parse(readFileSync(join(dir, 'inventory.json'), 'utf8')) as {
    machines: { name: string; role: string; addresses: string[] }[];
  };
  return machines
    .filter(({ role }) => role !== 'worker')
    .map(({ name, addresses }) => ({ name, address: addresses[0] ?? '' }));
}

/** The switch has the first address of the machines' network. */
export function switchAddressOf(infraId: string): string {
  const file = `/var/lib/firstlight/clusters/${infraId}/cluster.json`;
  const { machineNetwork } = JSON.parse(readFileSync(file, 'utf8')) as { machineNetwork: string };
  return machineNetwork.replace(/\.\d+\/\d+$/, '.1');
}
