// Where the machines of a cluster and the members of its etcd are, from its asset folder and the platform's record.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Place {
  readonly name: string;
  readonly role: string;
  readonly address: string;
}

function machinesOf(dir: string): readonly Place[] {
  const { machines } = JSON.parse(readFileSync(join(dir, 'inventory.json'), 'utf8')) as {
    machines: { name: string; role: string; addresses: string[] }[];
  };
  return machines.map(({ name, role, addresses }) => ({ name, role, address: addresses[0] ?? '' }));
}

/** The machines that carry a member at some time. */
export function etcdMachines(dir: string): readonly Place[] {
  return machinesOf(dir).filter(({ role }) => role !== 'worker');
}

export function addressOf(dir: string, machine: string): string {
  const { address } = machinesOf(dir).find(({ name }) => name === machine) ?? {};
  if (address === undefined) throw new Error(`there is no machine ${machine}`);
  return address;
}

/** The switch has the first address of the machines' network. */
export function switchAddressOf(infraId: string): string {
  const file = `/var/lib/firstlight/clusters/${infraId}/cluster.json`;
  const { machineNetwork } = JSON.parse(readFileSync(file, 'utf8')) as { machineNetwork: string };
  return machineNetwork.replace(/\.\d+\/\d+$/, '.1');
}
