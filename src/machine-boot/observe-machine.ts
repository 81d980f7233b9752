// Observes what only the machine itself knows. What follows from these facts is decided in node-preparation.ts, a pure
// function, so that its test has one row per kind of machine.
import type { Host } from '../host/host.ts';
import { sysctlPath, sysctls } from '../machine-software/sysctls.ts';
import { nodePreparationErrors } from './errors.ts';

export interface MachineFacts {
  readonly hostname: string;
  /** Addresses of global scope with the interface that carries them, in the kernel's order. */
  readonly addresses: readonly InterfaceAddress[];
  /** The interface of the IPv4 or else IPv6 default route. */
  readonly defaultInterface: string | undefined;
  readonly cgroupVersion: 1 | 2;
  /** The machine is itself a container (systemd-nspawn), so its PID 1 does not own all cgroup controllers. */
  readonly isContainer: boolean;
  readonly hasSysResource: boolean;
  /** /etc/resolv.conf is a stub of systemd-resolved, and the real servers are in its own file. */
  readonly hasResolved: boolean;
  readonly hasLogind: boolean;
  /** The kernel has every setting that the kubelet expects. */
  readonly hasKernelDefaults: boolean;
}

export interface InterfaceAddress {
  readonly interface: string;
  readonly address: string;
}

export const resolvedFile = '/run/systemd/resolve/resolv.conf';

export async function observeMachine(host: Host): Promise<MachineFacts> {
  const exists = async (path: string): Promise<boolean> => (await host.files.facts(path)) !== undefined;
  const hostnameFile = await host.files.readIfPresent('/proc/sys/kernel/hostname');
  const [addresses, routes] = await Promise.all([
    runIp(host, ['address', 'show', 'up', 'scope', 'global']),
    Promise.all([runIp(host, ['-4', 'route', 'show', 'default']), runIp(host, ['-6', 'route', 'show', 'default'])]),
  ]);
  return {
    hostname: hostnameFile === undefined ? host.environment.hostname : Buffer.from(hostnameFile).toString().trim(),
    addresses: readAddresses(addresses),
    defaultInterface: routes.flatMap((family) => readDefaultInterfaces(family))[0],
    cgroupVersion: (await exists('/sys/fs/cgroup/cgroup.controllers')) ? 2 : 1,
    isContainer: await exists('/run/systemd/container'),
    hasSysResource: holdsSysResource(await host.files.readText('/proc/self/status')),
    hasResolved: await exists(resolvedFile),
    hasLogind: await exists('/run/systemd/inhibit'),
    hasKernelDefaults: await observeKernelDefaults(host),
  };
}

async function observeKernelDefaults(host: Host): Promise<boolean> {
  const found = await Promise.all(
    sysctls
      .filter(({ isKubeletDefault }) => isKubeletDefault === true)
      .map(async ({ name, value }) => {
        const text = await host.files.readIfPresent(sysctlPath(name));
        return text !== undefined && Buffer.from(text).toString().trim() === String(value);
      }),
  );
  return found.every(Boolean);
}

async function runIp(host: Host, args: readonly string[]): Promise<unknown> {
  const result = await host.processes.run('ip', ['-json', ...args], { timeoutMs: 5_000 });
  if (result.code !== 0) {
    throw nodePreparationErrors.IP_FAILED({ command: `ip ${args.join(' ')}`, reason: result.stderr.trim() });
  }
  return result.stdout.trim() === '' ? [] : JSON.parse(result.stdout);
}

const sysResourceBit = 24n;

/** Whether the capabilities in /proc/PID/status include CAP_SYS_RESOURCE. */
export function holdsSysResource(status: string): boolean {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1];
  if (effective === undefined) return false;
  return ((BigInt(`0x${effective}`) >> sysResourceBit) & 1n) === 1n;
}

interface IpLink {
  readonly ifname?: string;
  readonly addr_info?: readonly { readonly local?: string; readonly deprecated?: boolean }[];
}

/** From `ip -json address`; addresses that the kernel no longer gives to new connections are left out. */
export function readAddresses(links: unknown): readonly InterfaceAddress[] {
  return (links as readonly IpLink[]).flatMap((link) =>
    (link.addr_info ?? []).flatMap((info) =>
      link.ifname === undefined || info.local === undefined || info.deprecated === true
        ? []
        : [{ interface: link.ifname, address: info.local }],
    ),
  );
}

function readDefaultInterfaces(routes: unknown): readonly string[] {
  return (routes as readonly { readonly dev?: string }[]).flatMap((route) => route.dev ?? []);
}
