// A machine that is gathered from, and the ways to it.
import type { MachineRole } from '../../contract/machine-role.ts';
import type { CommandLine, MachineFiles } from '../../platform/platform.ts';

export interface GatheredMachine {
  readonly name: string;
  readonly role: MachineRole;
  readonly address: string;
  /** As its platform says it, such as `running`. */
  readonly state: string;
  /** The command of this host that runs a shell in it as root, which reads its script from standard input. */
  readonly shell?: () => Promise<CommandLine>;
  /** Where this host has the disk of the machine. */
  readonly outside?: MachineOutside;
}

export interface MachineOutside {
  readonly files: MachineFiles;
  /** The command of this host that prints the journal. */
  readonly journal: (units: readonly string[], lines: number) => Promise<CommandLine>;
  /** The command of this host that prints what the programs that run the machine said. */
  readonly console: () => Promise<CommandLine>;
}

/** The folder of the machine in the bundle. */
export function folderOfMachine({ name, role }: Pick<GatheredMachine, 'name' | 'role'>): string {
  if (role === 'bootstrap') return 'bootstrap';
  return `${role === 'master' ? 'control-plane' : 'workers'}/${name}`;
}

/** What has its place at the top, as readers of such bundles expect it: of the bootstrap machine only. */
const atTop = ['unit-status/', 'rendered-assets/'];

export function placeInBundle(machine: Pick<GatheredMachine, 'name' | 'role'>, path: string): string {
  const isAtTop = machine.role === 'bootstrap' && atTop.some((start) => path.startsWith(start));
  return isAtTop ? path : `${folderOfMachine(machine)}/${path}`;
}
