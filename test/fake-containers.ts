// A containerd for tests that runs images as functions: each sees the files that the mounts of `ctr run` name and
// nothing else, and what it writes to its one writable mount is on the machine afterwards.
import { renderComponent } from '../src/bootkube/render-component.ts';
import { type FakeDisk, fakeDisk } from '../src/host/fake/fake-files.ts';
import { type FakeHost, fakeHost } from '../src/host/fake/fake-host.ts';
import type { RunOptions, RunResult } from '../src/host/processes.ts';

export interface FakeContainer {
  /** A host with the files of the container. */
  readonly host: FakeHost;
  /** The words after the image and the id. */
  readonly words: readonly string[];
  readonly output: string;
}

/** Throws what the program would say on its way out. */
export type FakeImage = (container: FakeContainer) => Promise<void>;

export interface FakeRuntime {
  /** Every call of ctr, without the address and the namespace. */
  readonly calls: (readonly string[])[];
  /** Ids of containers that were not removed. */
  readonly left: Set<string>;
  readonly run: (program: string, args: readonly string[], options?: RunOptions) => Promise<RunResult>;
}

/** For a program that does not end. */
export class Hangs extends Error {}

const ended: RunResult = { code: 0, signal: undefined, stdout: '', stderr: '', timedOut: false };

/** `disk`: of the machine. `images`: by reference. */
export function fakeRuntime(disk: FakeDisk, images: Readonly<Record<string, FakeImage>>): FakeRuntime {
  const runtime: FakeRuntime = {
    calls: [],
    left: new Set(),
    run: async (program, args, options) => {
      if (program !== 'ctr') throw new Error(`${program} is not in this machine`);
      const words = args.slice(4);
      runtime.calls.push(words);
      if (words[0] === 'content') return contentOf(words[2] ?? '');
      if (words[0] === 'containers' && words[1] === 'list') return { ...ended, stdout: [...runtime.left].join('\n') };
      if (words[0] === 'containers' && words[1] === 'delete') runtime.left.delete(words[2] ?? '');
      return words[0] === 'run' ? runImage(words, options) : ended;
    },
  };
  /** Of the config of an image the digest is that of its manifest, with a letter more. */
  const contentOf = (digest: string): RunResult => {
    if (digest.endsWith('f')) return { ...ended, stdout: JSON.stringify({ config: { Entrypoint: [entrypoint] } }) };
    const isKnown = Object.keys(images).some((reference) => reference.endsWith(`@${digest}`));
    if (!isKnown) return { ...ended, code: 1, stderr: `ctr: content ${digest}: not found\n` };
    return { ...ended, stdout: JSON.stringify({ config: { digest: `${digest}f` } }) };
  };
  const runImage = async (words: readonly string[], options: RunOptions = {}): Promise<RunResult> => {
    const { flags, image, id, rest: command } = readRun(words);
    const [first, ...rest] = command;
    if (first !== entrypoint) return { ...ended, code: 1, stderr: `ctr: exec: "${first}": not found in $PATH\n` };
    const program = images[image];
    if (program === undefined) return { ...ended, code: 1, stderr: `ctr: image "${image}": not found\n` };
    const mounts = flags.filter(([name]) => name === '--mount').map(([, value]) => readMount(value));
    const inside = viewOf(disk, mounts);
    const output = mounts.find(({ isWritable }) => isWritable);
    const variables = Object.fromEntries(flags.filter(([name]) => name === '--env').map(([, value]) => pair(value)));
    const host = fakeHost({ disk: inside, seed: 'container', environment: { variables } });
    runtime.left.add(id);
    try {
      await program({ host, words: rest, output: output?.dst ?? '' });
    } catch (error) {
      if (error instanceof Hangs) return { ...ended, code: undefined, signal: 'SIGTERM', timedOut: true };
      const said = error instanceof Error ? error.message : String(error);
      options.onLine?.(said, 'stderr');
      runtime.left.delete(id);
      return { ...ended, code: 3, stderr: `${said}\n` };
    }
    runtime.left.delete(id);
    if (output !== undefined) copyTree(inside, output.dst, disk, output.src);
    return ended;
  };
  return runtime;
}

/** Our own image. */
export const ownImage: FakeImage = async ({ host, words }) => {
  const [verb, component = '', input = '', output = ''] = words;
  if (verb !== 'render') throw new Error(`unknown verb ${verb}`);
  await renderComponent({
    host,
    emit: () => {},
    component,
    inputFolder: input.replace('--asset-input-dir=', ''),
    outputFolder: output.replace('--asset-output-dir=', ''),
  });
};

/** Of every image. */
const entrypoint = '/operator';

const bare = new Set(['--rm', '--read-only', '--seccomp']);

function readRun(words: readonly string[]) {
  const flags: (readonly [string, string])[] = [];
  let at = 1;
  while (words[at]?.startsWith('--') === true) {
    const name = words[at] ?? '';
    const isBare = bare.has(name) || name.includes('=');
    flags.push([name, isBare ? '' : (words[at + 1] ?? '')]);
    at += isBare ? 1 : 2;
  }
  return { flags, image: words[at] ?? '', id: words[at + 1] ?? '', rest: words.slice(at + 2) };
}

function pair(text: string): readonly [string, string] {
  const [name = '', ...value] = text.split('=');
  return [name, value.join('=')];
}

interface FakeMount {
  readonly src: string;
  readonly dst: string;
  readonly isWritable: boolean;
}

function readMount(text: string): FakeMount {
  const { src = '', dst = '', options = '' } = Object.fromEntries(text.split(',').map(pair)) as Record<string, string>;
  return { src, dst, isWritable: options.split(':').includes('rw') };
}

function viewOf(disk: FakeDisk, mounts: readonly FakeMount[]): FakeDisk {
  const inside = fakeDisk();
  for (const { src, dst } of mounts) {
    const at = new Date(0);
    const parts = dst.split('/').slice(1);
    parts.forEach((_, depth) => {
      const path = `/${parts.slice(0, depth + 1).join('/')}`;
      if (!inside.nodes.has(path)) inside.nodes.set(path, { kind: 'folder', mode: 0o755, at });
    });
    copyTree(disk, src, inside, dst);
  }
  return inside;
}

function copyTree(from: FakeDisk, src: string, to: FakeDisk, dst: string): void {
  for (const [path, node] of from.nodes) {
    if (path === src || path.startsWith(`${src}/`)) to.nodes.set(`${dst}${path.slice(src.length)}`, { ...node });
  }
}
