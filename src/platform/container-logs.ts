// Logs of a machine's containers, from the files that its kubelet keeps: they outlive the container, and can be read
// while the machine is stopped. A container that starts again begins another file; each file is one life.
import { join } from 'node:path';
import { platformErrors } from './errors.ts';
import type { MachineFiles } from './platform.ts';

/** Folders `NAMESPACE_POD_UID/CONTAINER`, files `0.log`, `1.log` … in them. */
export const podLogFolder = '/var/log/pods';

export interface ContainerLog {
  /** `NAMESPACE/POD/CONTAINER`. */
  readonly name: string;
  /** Paths inside the machine, the oldest life first. */
  readonly lives: readonly string[];
}

export interface ContainerLine {
  readonly at: Date;
  readonly stream: 'stdout' | 'stderr';
  readonly text: string;
}

interface Life {
  readonly name: string;
  readonly path: string;
  /** When the first container of this pod began; pods of the same name follow each other. */
  readonly podBegan: string;
  readonly attempt: number;
}

/** Sorted by name. */
export async function listContainerLogs(files: MachineFiles): Promise<readonly ContainerLog[]> {
  const lives: Life[] = [];
  for (const pod of (await files.list(podLogFolder)) ?? []) {
    const [namespace = '', name = ''] = pod.split('_');
    for (const container of (await files.list(join(podLogFolder, pod))) ?? []) {
      const found = await livesIn(files, join(podLogFolder, pod, container));
      lives.push(...found.map((life) => ({ ...life, name: `${namespace}/${name}/${container}` })));
    }
  }
  const byName = Map.groupBy(lives, ({ name }) => name);
  return [...byName]
    .map(([name, all]) => ({ name, lives: all.toSorted(inOrder).map(({ path }) => path) }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

async function livesIn(files: MachineFiles, folder: string): Promise<readonly Omit<Life, 'name'>[]> {
  const attempts = ((await files.list(folder)) ?? [])
    .flatMap((file) => /^(\d+)\.log$/.exec(file)?.[1] ?? [])
    .map(Number)
    .toSorted((a, b) => a - b);
  const [first] = attempts;
  if (first === undefined) return [];
  const head = await files.readIfPresent(join(folder, `${first}.log`));
  const podBegan = Buffer.from(head?.subarray(0, 40) ?? new Uint8Array()).toString('utf8');
  return attempts.map((attempt) => ({ path: join(folder, `${attempt}.log`), podBegan, attempt }));
}

function inOrder(a: Life, b: Life): number {
  if (a.podBegan !== b.podBegan) return a.podBegan < b.podBegan ? -1 : 1;
  return a.attempt - b.attempt;
}

export interface ChosenContainer {
  readonly machine: string;
  /** `CONTAINER`, `POD/CONTAINER` or `NAMESPACE/POD/CONTAINER`. */
  readonly container: string;
  /** The life before the last one. */
  readonly isPrevious: boolean;
}

/** The path of the log inside the machine. Throws where no container, several ones or no such life is meant. */
export function chooseContainerLog(
  logs: readonly ContainerLog[],
  { machine, container, isPrevious }: ChosenContainer,
): string {
  const known = logs.map(({ name }) => name);
  const meant = logs.filter(({ name }) => `/${name}`.endsWith(`/${container}`));
  const [log, ...others] = meant;
  if (log === undefined) throw platformErrors.NO_CONTAINER({ machine, container, known });
  if (others.length > 0) {
    throw platformErrors.SEVERAL_CONTAINERS({ machine, container, known: meant.map(({ name }) => name) });
  }
  const path = log.lives.at(isPrevious ? -2 : -1);
  if (path === undefined) throw platformErrors.NO_EARLIER_LIFE({ machine, container: log.name });
  return path;
}

const linePattern = /^(\S+) (stdout|stderr) ([FP])\S* ?(.*)$/s;

/** Lines as the container wrote them: of a long one the runtime makes several, all but the last marked as partial. */
export function containerLineReader(): (line: string) => ContainerLine | undefined {
  const begun = { stdout: '', stderr: '' };
  return (line) => {
    const [, at = '', stream, mark, text = ''] = linePattern.exec(line) ?? [];
    if ((stream !== 'stdout' && stream !== 'stderr') || Number.isNaN(Date.parse(at))) return undefined;
    begun[stream] += text;
    if (mark === 'P') return undefined;
    const whole = begun[stream];
    begun[stream] = '';
    return { at: new Date(at), stream, text: whole };
  };
}

export function readContainerLines(content: Uint8Array): readonly ContainerLine[] {
  const read = containerLineReader();
  return Buffer.from(content)
    .toString('utf8')
    .split('\n')
    .flatMap((line) => read(line) ?? []);
}
