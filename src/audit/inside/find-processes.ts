// The processes of Kubernetes on this machine: by the executable that runs and the cgroup that it runs in, never by the
// name it gives itself. Files are looked at through the root of the process, so they are the ones it really opens.
import { basename } from 'node:path';
import { isError } from '../../errors/firstlight-error.ts';
import { hostErrors } from '../../host/errors.ts';
import type { FileFacts, Files } from '../../host/files.ts';
import { digestOf } from '../../workflow/digest.ts';
import { type AuditedProgram, auditedPrograms, type ObservedProcess } from './security-facts.ts';

/** A process without what its files say. */
export type FoundProcess = Omit<ObservedProcess, 'settings'>;

export async function findKubernetesProcesses(files: Files): Promise<readonly FoundProcess[]> {
  const names = (await files.list('/proc')) ?? [];
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(pids.map((pid) => lookAtProcess(files, pid)));
  return found.filter((process) => process !== undefined);
}

async function lookAtProcess(files: Files, pid: number): Promise<FoundProcess | undefined> {
  const read = (file: string): Promise<string> => ifAlive('', () => files.readText(`/proc/${pid}/${file}`));
  const [executable, commandLine] = await Promise.all([
    ifAlive('', () => files.readLink(`/proc/${pid}/exe`)),
    read('cmdline'),
  ]);
  const program = programOf(executable, commandLine.split('\0', 1)[0] ?? '');
  if (program === undefined) return undefined;
  const [status, cgroup, environment] = await Promise.all([
    read('status'),
    read('cgroup'),
    program === 'etcd' ? read('environ') : '',
  ]);
  const args = commandLine.replace(/\0$/, '').split('\0').slice(1);
  const [pod, unit] = [podOfCgroup(cgroup), unitOfCgroup(cgroup)];
  return {
    program,
    pid,
    uid: Number(/^Uid:\s+\d+\s+(\d+)/m.exec(status)?.[1] ?? 0),
    ...(pod === undefined ? {} : { pod }),
    ...(pod !== undefined || unit === undefined ? {} : { unit }),
    arguments: args,
    variables: Object.fromEntries(
      environment.split('\0').flatMap((line) => {
        const [, name, value] = /^(ETCD_[A-Z_]+)=(.*)$/s.exec(line) ?? [];
        return name === undefined || value === undefined ? [] : [[name, value]];
      }),
    ),
    files: [...(await filesOfFlags(files, pid, args))],
  };
}

/** One executable with every program of Kubernetes, which runs the one that it is called by. */
const manyInOne = ['kube', 'hyperkube'];

/** A replaced executable is shown as `/usr/bin/etcd (deleted)`. */
function programOf(executable: string, calledAs: string): AuditedProgram | undefined {
  const file = basename(executable.replace(/ \(deleted\)$/, ''));
  const name = manyInOne.includes(file) ? basename(calledAs) : file;
  return auditedPrograms.find((program) => program === name);
}

/** The kubelet writes the UID of a pod into the name of its cgroup, with `_` for `-` where systemd names the slice. */
export function podOfCgroup(cgroup: string): string | undefined {
  const uid = /pod([0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12}|[0-9a-f]{32})/.exec(cgroup);
  return uid?.[1]?.replaceAll('_', '-');
}

function unitOfCgroup(cgroup: string): string | undefined {
  return /\/([^/\n]+\.service)(?:\/|$)/m.exec(cgroup)?.[1];
}

interface FileFlag {
  readonly flag: string;
  readonly path: string;
}

/** `--flag=/path` and `--flag /path`; of a list of paths each. */
export function fileFlags(args: readonly string[]): readonly FileFlag[] {
  return args.flatMap((argument, index) => {
    const [, flag, given] = /^--?([a-z0-9-]+)(?:=(.*))?$/s.exec(argument) ?? [];
    const next = args[index + 1];
    const value = given ?? (next?.startsWith('-') === false ? next : undefined);
    if (flag === undefined || value === undefined) return [];
    return value
      .split(',')
      .filter((path) => path.startsWith('/'))
      .map((path) => ({ flag, path }));
  });
}

async function filesOfFlags(
  files: Files,
  pid: number,
  args: readonly string[],
): Promise<readonly ObservedProcess['files'][number][]> {
  const found = fileFlags(args).map(async ({ flag, path }) => {
    const seen = `/proc/${pid}/root${path}`;
    const facts = await ifAlive(undefined, () => files.facts(seen));
    if (facts === undefined || facts.kind === 'other') return [];
    const digest = await digestIfPublic(files, seen, facts);
    const { mode, uid, gid, kind } = facts;
    const isFolder = kind === 'folder';
    return [{ flag, path, mode, uid, gid, isFolder, ...(digest === undefined ? {} : { digest }) }];
  });
  return (await Promise.all(found)).flat();
}

const certificatesBytes = 256 * 1024;

/** Only of files with nothing but certificates: they tell whether two programs trust the same authority. */
async function digestIfPublic(files: Files, path: string, facts: FileFacts): Promise<string | undefined> {
  if (facts.kind !== 'file' || facts.sizeBytes > certificatesBytes) return undefined;
  const text = await ifAlive('', () => files.readText(path));
  if (!text.includes('-----BEGIN CERTIFICATE-----') || text.includes('PRIVATE KEY-----')) return undefined;
  return digestOf(text);
}

/** A process may end while it is looked at, or a file may go: what it had is then not there. */
export async function ifAlive<T>(instead: T, look: () => Promise<T>): Promise<T> {
  try {
    return await look();
  } catch (error) {
    if (isError(error, hostErrors.FILE)) return instead;
    throw error;
  }
}
