// Turns requests into machines: keeps those that exist, gives the others an address and an identity. Pure except for
// the random identity; everything that can be wrong with a request is found here, before anything is made.
import type { MachineImage } from '../../contract/machine-image.ts';
import type { Random } from '../../host/random.ts';
import { digestOf } from '../../workflow/digest.ts';
import { platformErrors } from '../errors.ts';
import { clusterName, type MachineRequest, machineName } from '../machine.ts';
import { type MachineNetwork, machineAddressMistake, nextAddress } from './addresses.ts';
import type { LocalMachine } from './local-machine.ts';

export interface Assignment {
  readonly network: MachineNetwork;
  readonly existing: readonly LocalMachine[];
  readonly requests: readonly MachineRequest[];
  readonly image: MachineImage;
  readonly random: Random;
}

/** One machine per request, in their order. */
export function assignMachines({ network, existing, requests, image, random }: Assignment): readonly LocalMachine[] {
  const asked = requests.flatMap((request) => request.address ?? []);
  const taken = new Set([...existing.map((machine) => machine.address), ...asked]);
  return requests.map((request) => {
    const same = existing.find((machine) => machine.name === request.name);
    if (same !== undefined) {
      assertSameMachine(same, request, image);
      return same;
    }
    const address = request.address ?? nextAddress(network, taken);
    taken.add(address);
    checkAddress(network, { name: request.name, address }, [...existing, ...requests]);
    return {
      name: request.name,
      role: request.role,
      address,
      machineId: Buffer.from(random.bytes(16)).toString('hex'),
      image: {
        rootFolder: image.rootFolder,
        ...(image.containerdSeed === undefined ? {} : { containerdSeed: image.containerdSeed }),
        digest: image.digest,
      },
      ignitionDigest: digestOf(request.ignition),
    };
  });
}

interface Addressed {
  readonly name: string;
  readonly address?: string;
}

function checkAddress(network: MachineNetwork, wanted: Required<Addressed>, others: readonly Addressed[]): void {
  const owner = others.find((other) => other.name !== wanted.name && other.address === wanted.address);
  const reason = owner === undefined ? machineAddressMistake(network, wanted.address) : `it belongs to ${owner.name}`;
  if (reason !== undefined) throw platformErrors.BAD_ADDRESS({ machine: wanted.name, address: wanted.address, reason });
}

/** A request with the name of an existing machine must describe that machine. */
function assertSameMachine(existing: LocalMachine, request: MachineRequest, image: MachineImage): void {
  const fields: readonly (readonly [string, string, string])[] = [
    ['role', existing.role, request.role],
    ['address', existing.address, request.address ?? existing.address],
    ['Ignition config', existing.ignitionDigest, digestOf(request.ignition)],
    ['image', existing.image.digest, image.digest],
  ];
  const differing = fields.find(([, is, wanted]) => is !== wanted);
  if (differing !== undefined) throw platformErrors.MACHINE_DIFFERS({ machine: existing.name, field: differing[0] });
}

export function checkNames(cluster: string, machines: readonly { readonly name: string }[]): void {
  const mistake = clusterName.safeParse(cluster).error?.issues[0]?.message;
  if (mistake !== undefined) throw platformErrors.BAD_NAME({ what: 'cluster', name: cluster, reason: mistake });
  for (const { name } of machines) {
    const reason = machineName.safeParse(name).error?.issues[0]?.message;
    if (reason !== undefined) throw platformErrors.BAD_NAME({ what: 'machine', name, reason });
  }
}
