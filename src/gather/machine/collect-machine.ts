// Takes everything from one machine: from inside by one script while it runs, else, and where the script does not come
// to its end, from outside by its files and journals. What arrived before a failure or a deadline is kept.
import { join } from 'node:path';
import type { Host } from '../../host/host.ts';
import type { BundleContents } from '../bundle-contents.ts';
import { troubleText } from '../trouble-text.ts';
import { type GatheredMachine, type MachineOutside, placeInBundle } from './gathered-machine.ts';
import { insideReader, insideScript, placeOfFile } from './inside-script.ts';
import type { FilesPart, JournalPart, MachineCollector } from './machine-collector.ts';
import { machineCollectors } from './machine-collectors.ts';

/** How the machine was looked at. */
export type MachineLook = 'inside' | 'its disk' | 'not at all';

export interface CollectMachine {
  readonly host: Host;
  readonly machine: GatheredMachine;
  readonly contents: BundleContents;
  readonly signal: AbortSignal;
  /** How long a single program may take. */
  readonly patienceMs: number;
  readonly collectors?: readonly MachineCollector[];
}

export async function collectMachine(collect: CollectMachine): Promise<MachineLook> {
  const { machine, contents, signal } = collect;
  const taken = new Set<string>();
  const put = (path: string, content: Uint8Array | string): void => {
    taken.add(path);
    contents.add(placeInBundle(machine, path), content);
  };
  const trouble = await fromInside(collect, put);
  if (trouble === undefined) return 'inside';
  contents.miss(`${machine.name}, from inside`, trouble);
  if (machine.outside === undefined || signal.aborted) return taken.size > 0 ? 'inside' : 'not at all';
  await fromOutside(collect, machine.outside, (path, content) => {
    if (!taken.has(path)) put(path, content);
  });
  return taken.size > 0 ? 'its disk' : 'not at all';
}

type Put = (path: string, content: Uint8Array | string) => void;

/** Undefined when all of it was taken, else why not. */
async function fromInside(
  { host, machine, contents, signal, patienceMs, collectors = machineCollectors }: CollectMachine,
  put: Put,
): Promise<string | undefined> {
  if (machine.shell === undefined)
    return machine.state === 'running' ? 'there is no way into it' : `it is ${machine.state}`;
  let step = 'the first command';
  const reader = insideReader(collectors, {
    onFile: put,
    onMissed: (path, reason) => contents.miss(placeInBundle(machine, path), reason),
    onStep: (collector) => {
      step = collector;
      contents.note(`${machine.name}: ${collector}`);
    },
  });
  try {
    const [program, ...args] = await machine.shell();
    const { code, stderr } = await host.processes.run(program, args, {
      input: insideScript(collectors, Math.ceil(patienceMs / 1000)),
      signal,
      keepBytes: 64 * 1024,
      onLine: (line, stream) => {
        if (stream === 'stdout') reader.line(line);
      },
    });
    if (reader.isOver()) return undefined;
    return stderr.trim().split('\n').at(-1) || `it ended with ${code ?? 'a signal'} at ${step}`;
  } catch (error) {
    return signal.aborted ? `the time was over at ${step}` : troubleText(error);
  }
}

async function fromOutside(
  { host, contents, machine, signal, collectors = machineCollectors }: CollectMachine,
  outside: MachineOutside,
  put: Put,
): Promise<void> {
  for (const { name, parts } of collectors) {
    contents.note(`${machine.name}, from its disk: ${name}`);
    for (const part of parts) {
      try {
        if (part.kind === 'files') await takeFiles(outside, part, put);
        if (part.kind === 'journal') put(part.file, await journalText(host, outside, part, signal));
      } catch (error) {
        if (signal.aborted) return contents.miss(`${machine.name}, from its disk`, `the time was over at ${name}`);
        contents.miss(`${machine.name}, from its disk: ${name}`, troubleText(error));
      }
    }
  }
}

async function takeFiles({ files }: MachineOutside, part: FilesPart, put: Put): Promise<void> {
  for (const pattern of part.patterns) {
    for (const path of await matching(files, pattern)) {
      const place = placeOfFile(part, path);
      const content = place === undefined ? undefined : await files.readIfPresent(path);
      if (place !== undefined && content !== undefined) put(place, content);
    }
  }
}

/** The paths of a machine that may fit a pattern. */
async function matching(files: MachineOutside['files'], pattern: string): Promise<readonly string[]> {
  let paths: readonly string[] = ['/'];
  for (const part of pattern.split('/').slice(1)) {
    const next = paths.map(async (path) => {
      if (!part.includes('*')) return [join(path, part)];
      const fitting = new RegExp(`^${part.replaceAll('.', '\\.').replaceAll('*', '.*')}$`);
      return ((await files.list(path)) ?? []).filter((name) => fitting.test(name)).map((name) => join(path, name));
    });
    paths = (await Promise.all(next)).flat();
  }
  return paths;
}

async function journalText(
  host: Host,
  { journal }: MachineOutside,
  { units, lines }: JournalPart,
  signal: AbortSignal,
): Promise<string> {
  const [program, ...args] = await journal(units, lines);
  const { stdout } = await host.processes.run(program, args, { signal });
  return stdout.startsWith('-- No entries --') ? '' : stdout;
}
