// Facts of a machine and settings of its pool → the files that containerd and the kubelet read below /run/firstlight.
// Pure: the same facts always give the same files.
import ipaddr from 'ipaddr.js';
import { runtimePaths } from '../contract/machine-paths.ts';
import { nodeEnvironmentText } from '../contract/node-environment.ts';
import type { NodeSettings } from '../contract/node-settings.ts';
import type { CgroupDriver } from '../machine-software/containerd-config.ts';
import { containerdMachineConfigText } from '../machine-software/containerd-config.ts';
import { kubeletMachineConfigText } from '../machine-software/kubelet-configuration.ts';
import { nodePreparationErrors } from './errors.ts';
import type { MachineFacts } from './observe-machine.ts';
import { resolvedFile } from './observe-machine.ts';

export interface NodePreparation {
  readonly nodeName: string;
  /** One per address family, IPv4 first. */
  readonly nodeAddresses: readonly string[];
  /** In the order to write them: node.env last, because its presence lets the kubelet start. */
  readonly files: readonly { readonly path: string; readonly text: string }[];
}

export function nodePreparation(facts: MachineFacts, settings: NodeSettings): NodePreparation {
  const nodeName = nodeNameOf(facts.hostname);
  const nodeAddresses = nodeAddressesOf(facts, settings);
  const cgroupDriver = cgroupDriverOf(facts);
  return {
    nodeName,
    nodeAddresses,
    files: [
      {
        path: runtimePaths.containerdConfig,
        text: containerdMachineConfigText({ cgroupDriver, restrictsOomScore: !facts.hasSysResource }),
      },
      {
        path: runtimePaths.kubeletConfig,
        text: kubeletMachineConfigText({
          cgroupVersion: facts.cgroupVersion,
          cgroupDriver,
          ...(facts.hasResolved ? { resolverFile: resolvedFile } : {}),
          canDelayShutdown: facts.hasLogind && !facts.isContainer,
          sharesDisk: facts.isContainer,
          hasKernelDefaults: facts.hasKernelDefaults,
        }),
      },
      {
        path: runtimePaths.environment,
        text: nodeEnvironmentText({ name: nodeName, addresses: nodeAddresses }),
      },
    ],
  };
}

/**
 * On cgroup v1 the systemd of a container sees controllers that it may not write, so cgroups of pods bypass systemd.
 */
export function cgroupDriverOf(facts: Pick<MachineFacts, 'cgroupVersion' | 'isContainer'>): CgroupDriver {
  return facts.cgroupVersion === 1 && facts.isContainer ? 'cgroupfs' : 'systemd';
}

const dnsName = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;
const namesBeforeNaming = new Set(['', '(none)', 'localhost', 'localhost.localdomain']);

function nodeNameOf(hostname: string): string {
  const name = hostname.toLowerCase();
  if (namesBeforeNaming.has(name) || name.length > 253 || !dnsName.test(name))
    throw nodePreparationErrors.NAME_UNFIT({ hostname });
  return name;
}

function nodeAddressesOf(facts: MachineFacts, settings: NodeSettings): readonly string[] {
  const ranges = settings.machineNetworks.map((network) => ipaddr.parseCIDR(network));
  const candidates = facts.addresses.filter(({ address, interface: name }) => {
    if (ranges.length === 0) return name === facts.defaultInterface;
    const parsed = ipaddr.parse(address);
    return ranges.some(([range, bits]) => parsed.kind() === range.kind() && parsed.match(range, bits));
  });
  const first = (kind: 'ipv4' | 'ipv6'): readonly string[] =>
    candidates
      .filter(({ address }) => ipaddr.parse(address).kind() === kind)
      .slice(0, 1)
      .map(({ address }) => address);
  const found = [...first('ipv4'), ...first('ipv6')];
  if (found.length === 0) {
    throw nodePreparationErrors.NO_ADDRESS({
      networks: settings.machineNetworks,
      addresses: facts.addresses.map(({ address }) => address),
    });
  }
  return found;
}
