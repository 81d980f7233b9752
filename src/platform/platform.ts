// The seam between clusters and their machines: a platform is a value of this type, and cluster/, diagnose/, waterfall/
// and cli/ know machines only through it. To add a platform: a folder beside local/ that makes such a value, and a row
// in choose-platform.ts and platform-traits.ts. What a platform remembers about a cluster, beyond its name, is its own.
import type { MachineImage } from '../contract/machine-image.ts';
import type { Moment } from '../contract/timeline.ts';
import type { Files } from '../host/files.ts';
import type { Emit } from '../workflow/events.ts';
import { platformErrors } from './errors.ts';
import type { Machine, MachineRequest, ObservedMachine } from './machine.ts';

export interface Platform {
  /** As in the `platform` section of install-config.yaml. */
  readonly name: string;

  // What is there. Every platform answers these; the answer is empty where the machines belong to somebody else.

  /** All clusters that have machines on this platform. */
  readonly clusterNames: () => Promise<readonly string[]>;
  /** Undefined while the platform has no machine of the cluster. */
  readonly findCluster: (cluster: string) => Promise<PlacedCluster | undefined>;
  readonly listMachines: (cluster: string) => Promise<readonly Machine[]>;
  /** The machines with what they do right now; may ask inside each of them. */
  readonly observeMachines: (cluster: string) => Promise<readonly ObservedMachine[]>;
  /** What of the cluster runs, seen from outside: cheap enough to be called again and again. */
  readonly observeProcesses: (cluster: string) => Promise<RunningParts>;
  /** Files that the machine itself has written, also of a machine that is stopped. Runs nothing inside. */
  readonly filesOf: (machine: MachineKey) => MachineFiles;
  /** When things happened in a machine: its timeline, its units, its containers. */
  readonly machineMoments: (machine: MachineKey) => Promise<readonly Moment[]>;
  /** From when to when the load balancer used which machine. */
  readonly balancerMoments: (cluster: string) => Promise<readonly Moment[]>;

  // What a platform may not be able to do. Callers take these through `ableTo`, which refuses, or do without them.

  /** What this host is and what keeps it from having `machines` machines; changes nothing. */
  readonly inspectHost?: (machines: number) => Promise<HostReport>;
  /** Makes this host ready for as many new machines, or throws HOST_UNFIT before anything is touched. */
  readonly prepareHost?: (context: ChangeContext, machines: number) => Promise<void>;
  /** Makes what is missing of these machines and starts them; does not wait for them to boot. */
  readonly createMachines?: (context: ChangeContext, request: MachinesRequest) => Promise<PlacedCluster>;
  readonly startMachines?: ChangeMachines;
  readonly stopMachines?: ChangeMachines;
  readonly rebootMachines?: ChangeMachines;
  /** Removes machines and everything of them; the cluster goes with its last machine. */
  readonly destroyMachines?: ChangeMachines;
  /** Removes a whole cluster, also one that was never completed. It is no mistake when nothing is there. */
  readonly destroyCluster?: (context: ChangeContext, cluster: string) => Promise<void>;
  /** What the machine alone takes of the disk. Looks at every file of it, so it is not for polling. */
  readonly diskBytes?: (machine: MachineKey) => Promise<number>;
  /** The command line for this host that runs a command inside a running machine, as root. */
  readonly commandInside?: (machine: MachineKey, command: InsideCommand) => Promise<CommandLine>;
  /** The command line for this host that runs a program of this host in the network of the machines. */
  readonly commandInNetwork?: (cluster: string, command: CommandLine) => CommandLine;
  /** The command line for this host that prints a log of a machine. */
  readonly logCommand?: (machine: MachineKey, request: LogRequest) => Promise<CommandLine>;
}

export interface MachineKey {
  readonly cluster: string;
  readonly machine: string;
}

/** By their paths inside the machine. */
export type MachineFiles = Pick<Files, 'readIfPresent' | 'list'>;

/** What is fixed about a cluster when its first machine is made. */
export interface PlacedCluster {
  /** Machines are `<name>.<domain>`, the API is `api.<domain>`. */
  readonly domain: string;
  readonly machineNetwork: string;
  /** The address on the machine network at which the load balancer and the name server answer. */
  readonly balancerAddress: string;
  /** Where this host reaches the API, when that is not at `api.<domain>`. */
  readonly apiEndpoint?: { readonly address: string; readonly port: number };
  /** Where this host pushes images to the registry of the cluster, where it can. */
  readonly registryEndpoint?: { readonly address: string; readonly port: number };
  /** Where this host reaches applications, when that is not at ports 80 and 443 of `*.apps.<domain>`. */
  readonly ingressEndpoint?: { readonly address: string; readonly http: number; readonly https: number };
}

export interface RunningParts {
  /** Names of the machines that run. */
  readonly machines: ReadonlySet<string>;
  readonly isBalancerRunning: boolean;
}

export interface ChangeContext {
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

/** Every name must be that of a machine, else NO_MACHINE is thrown and nothing is changed. */
export type ChangeMachines = (context: ChangeContext, cluster: string, names: readonly string[]) => Promise<void>;

export interface MachinesRequest {
  /** Domain and network are chosen by the platform when they are not given and the cluster is new. */
  readonly cluster: { readonly name: string; readonly domain?: string; readonly machineNetwork?: string };
  readonly machines: readonly MachineRequest[];
  readonly image: MachineImage;
}

export type CommandLine = readonly [program: string, ...args: string[]];

export interface InsideCommand {
  readonly command: readonly string[];
  /** Added to the environment inside, to which nothing of our own environment belongs. */
  readonly variables?: Readonly<Record<string, string>>;
}

export interface LogRequest {
  /** The journal of the machine, or what the programs that run the machine printed. */
  readonly source: 'journal' | 'console';
  /** Only these units; all when empty. */
  readonly units: readonly string[];
  readonly lines: number;
  readonly isFollowing: boolean;
  /** Nothing older than this. */
  readonly since?: Date;
  /** Of the journal: the boot before the last one. */
  readonly isPrevious?: boolean;
  /** Of the journal. */
  readonly format: 'short-precise' | 'json';
}

export interface HostReport {
  /** For people: what was looked at, and what it is. */
  readonly summary: readonly (readonly [label: string, text: string])[];
  readonly problems: readonly HostProblem[];
  /** For programs: everything that was detected and decided. */
  readonly data: Readonly<Record<string, unknown>>;
}

export interface HostProblem {
  readonly what: string;
  readonly remedy: string;
  /** Debian packages whose installation solves it. */
  readonly packages?: readonly string[];
}

const abilities = {
  inspectHost: 'inspect this host',
  prepareHost: 'prepare this host',
  createMachines: 'make machines',
  startMachines: 'start machines',
  stopMachines: 'stop machines',
  rebootMachines: 'reboot machines',
  destroyMachines: 'destroy machines',
  destroyCluster: 'destroy a cluster',
  diskBytes: 'measure the disk use of machines',
  commandInside: 'run commands inside machines',
  commandInNetwork: 'run programs in the network of machines',
  logCommand: 'show logs of machines',
} as const satisfies Partial<Record<keyof Platform, string>>;

export type Ability = keyof typeof abilities;

/** The function that the platform has for this; throws UNABLE where it has none. */
export function ableTo<A extends Ability>(platform: Platform, ability: A): NonNullable<Platform[A]> {
  const able = platform[ability];
  if (able === undefined) throw platformErrors.UNABLE({ platform: platform.name, what: abilities[ability] });
  return able;
}
