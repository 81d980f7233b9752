// The script that takes everything from a machine that runs, and the reader of what it prints. It writes nothing on the
// machine, whose disk may be full, and needs no program of ours, which may be what is broken. Files are printed as they
// are read, so what arrived before a deadline is kept.
import { shellQuoted } from '../../platform/ssh-access.ts';
import { isRefusedName, refusedPatterns } from '../redaction/refused-names.ts';
import type { CollectorPart, FilesPart, MachineCollector } from './machine-collector.ts';

/** Of a longer file or output the last bytes are taken. */
export const fileBytesMost = 4 * 1024 ** 2;

const functions = (commandSeconds: number): string => `LC_ALL=C; export LC_ALL
put() { printf '@file %s %s\\n' "$part" "$1"; tail -c ${fileBytesMost} | base64 -w 8192; echo '@end'; }
run() {
  file=$1; shift
  { timeout ${commandSeconds} "$@" 2>&1; code=$?; [ $code -lt 124 ] || echo "[ended with $code]"; } | put "$file"
}
take() { [ -f "$1" ] && put "$1" < "$1"; }
refused() { case $1 in ${refusedPatterns.join(' | ')}) ;; *) return 1 ;; esac; }`;

/** No program may take longer than `commandSeconds`. */
export function insideScript(collectors: readonly MachineCollector[], commandSeconds: number): string {
  const steps = collectors.flatMap(({ name, parts }, collector) => [
    `echo '@step ${name}'`,
    ...parts.flatMap((part, index) => [`part=${collector}.${index}`, partScript(part)]),
  ]);
  return [functions(commandSeconds), ...steps, "echo '@over'", ''].join('\n');
}

function partScript(part: CollectorPart): string {
  switch (part.kind) {
    case 'files':
      return part.patterns.map(patternScript).join('\n');
    case 'journal': {
      const units = part.units.map((unit) => ` --unit=${unit}`).join('');
      const journal = `journalctl --quiet --no-pager --output=short-precise --lines=${part.lines}${units}`;
      return `run ${shellQuoted(part.file)} ${journal}`;
    }
    case 'command':
      return `run ${shellQuoted(part.file)} sh -c ${shellQuoted(part.command)}`;
    case 'script':
      return part.script;
  }
}

/** A link among many files may lead anywhere; one that is named in full is where the system keeps that file. */
function patternScript(pattern: string): string {
  if (!pattern.includes('*')) return `take ${pattern}`;
  return `for path in ${pattern}; do [ -L "$path" ] || refused "\${path##*/}" || take "$path"; done`;
}

export interface InsideEvents {
  readonly onFile: (path: string, content: Uint8Array) => void;
  readonly onMissed: (path: string, reason: string) => void;
  readonly onStep: (collector: string) => void;
}

export interface InsideReader {
  readonly line: (line: string) => void;
  /** True when the script has come to its end. */
  readonly isOver: () => boolean;
}

/** Reads the output line by line. The machine may be hostile: only parts of the table and plain paths are accepted. */
export function insideReader(collectors: readonly MachineCollector[], events: InsideEvents): InsideReader {
  let open: { readonly path: string; readonly chunks: Buffer[] } | undefined;
  let isOver = false;
  const begin = (header: string): void => {
    const [part = '', ...path] = header.split(' ');
    const place = placeOf(collectors, part, path.join(' '));
    open = place === undefined ? undefined : { path: place, chunks: [] };
  };
  const end = (): void => {
    if (open === undefined) return;
    const content = Buffer.concat(open.chunks);
    const { path } = open;
    open = undefined;
    const failure = /\[ended with (\d+)\]\n$/.exec(content.subarray(-20).toString('latin1'))?.[1];
    if (failure !== undefined) events.onMissed(path, failureText(Number(failure)));
    events.onFile(path, content);
  };
  return {
    line: (line) => {
      if (line.startsWith('@file ')) begin(line.slice('@file '.length));
      else if (line === '@end') end();
      else if (line.startsWith('@step ')) events.onStep(line.slice('@step '.length));
      else if (line === '@over') isOver = true;
      else open?.chunks.push(Buffer.from(line, 'base64'));
    },
    isOver: () => isOver,
  };
}

function failureText(code: number): string {
  if (code === 124) return 'it did not end in time';
  return code === 127 ? 'the machine has no such program' : `it ended with ${code}`;
}

function placeOf(collectors: readonly MachineCollector[], part: string, path: string): string | undefined {
  const [collector, index] = part.split('.').map(Number);
  const found = collectors[collector ?? -1]?.parts[index ?? -1];
  if (found === undefined || path === '') return undefined;
  if (found.kind === 'files') return placeOfFile(found, path);
  return found.kind === 'script' || found.file === path ? path : undefined;
}

/** Where a file of the machine has its place in the bundle; undefined where it is none of the part's. */
export function placeOfFile(part: FilesPart, path: string): string | undefined {
  const fits = part.patterns.some((pattern) => isFitting(pattern, path));
  return fits && !isRefusedName(path) ? part.place(path) : undefined;
}

function isFitting(pattern: string, path: string): boolean {
  const expression = pattern.split('*').map((text) => text.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${expression.join('[^/]*')}$`).test(path);
}
