// The processes inside the machines of a cluster, found and signalled from the host as faults come: from outside. A process
// belongs to a machine when it lives in the machine's network namespace or below its process 1.
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { machineNamespace, namespacePath, nspawnName } from '../../../src/platform/local/cluster-folder.ts';

export type Program =
  | 'bootkube'
  | 'tectonic'
  | 'rm-assets'
  | 'agent'
  | InPlaceProgram
  | 'kubelet'
  | 'etcd'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-scheduler';

/** Of the in-place bootstrapper: they are started by a loader of their own, and some are told which attempt they are for. */
type InPlaceProgram = 'ipb pod' | 'ipb run' | 'ipb finish';

const firstlightVerbs: Partial<Record<Program, readonly string[]>> = {
  bootkube: ['bootkube', 'run'],
  tectonic: ['tectonic'],
  'rm-assets': ['rm-assets'],
  agent: ['agent'],
};

/** The host's ID of a program in a machine. All that we look for share the machine's network namespace. */
export function pidOf(cluster: string, machine: string, program: Program): number | undefined {
  const namespace = inodeOf(namespacePath(machineNamespace(cluster, machine)));
  if (namespace === undefined) return undefined;
  return pids().find((pid) => isProgram(argumentsOf(pid), program) && namespaceOf(pid) === namespace);
}

function isProgram(args: readonly string[], program: Program): boolean {
  if (program.startsWith('ipb ')) return `${args.join(' ')} `.includes(`.mjs ${program} `);
  const verbs = firstlightVerbs[program];
  const [first = ''] = args;
  if (verbs === undefined) return first === program || first.endsWith(`/${program}`);
  return first.endsWith('/node') && args.slice(-verbs.length).join(' ') === verbs.join(' ');
}

/** Process 1 of a machine. */
export function leaderOf(cluster: string, machine: string): number | undefined {
  const nspawn = pids().find((pid) => {
    const args = argumentsOf(pid);
    return (args[0] ?? '').endsWith('systemd-nspawn') && args.includes(`--machine=${nspawnName(cluster, machine)}`);
  });
  if (nspawn === undefined) return undefined;
  return pids().find((pid) => {
    const status = textOf(`/proc/${pid}/status`);
    return new RegExp(`^PPid:\\s*${nspawn}$`, 'm').test(status) && /^NSpid:.*\s1$/m.test(status);
  });
}

/** False when it is gone already. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch {
    return false;
  }
}

function pids(): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function argumentsOf(pid: number): readonly string[] {
  return textOf(`/proc/${pid}/cmdline`).replace(/\0$/, '').split('\0');
}

function namespaceOf(pid: number): string | undefined {
  try {
    return /\[(\d+)\]/.exec(readlinkSync(`/proc/${pid}/ns/net`))?.[1];
  } catch {
    return undefined;
  }
}

function inodeOf(path: string): string | undefined {
  try {
    return String(statSync(path).ino);
  } catch {
    return undefined;
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
