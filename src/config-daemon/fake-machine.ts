// A machine for the tests of this room: files in memory, and a systemctl that works on them as the real one does, by
// links in the folders of targets. Every link that it makes or removes is a change at which the machine can crash.
import { posix } from 'node:path';
import { bootIdFile, unitFolder } from '../contract/machine-paths.ts';
import type { FakeDisk } from '../host/fake/fake-files.ts';
import { type FakeHost, fakeHost } from '../host/fake/fake-host.ts';
import type { Files } from '../host/files.ts';
import type { RunResult } from '../host/processes.ts';

export interface FakeMachineOptions {
  /** The disk of a machine that was there before. */
  readonly disk?: FakeDisk;
  readonly bootId?: string;
}

export async function fakeMachine({ disk, bootId = 'boot-1' }: FakeMachineOptions = {}): Promise<FakeHost> {
  const host: FakeHost = fakeHost({
    ...(disk === undefined ? {} : { disk }),
    processes: {
      run: async (program, args, options) => {
        if (program === 'systemctl') return systemctl(host.files, args);
        return userProgram(host.files, program, String(options?.input ?? ''));
      },
    },
  });
  if (disk !== undefined) return host;
  for (const folder of ['/etc', '/usr/lib/systemd/system', unitFolder, '/proc/sys/kernel/random', '/home']) {
    await host.files.makeFolder(folder);
  }
  await host.files.write(bootIdFile, `${bootId}\n`);
  await host.files.write('/etc/passwd', 'root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n');
  await host.files.write('/etc/group', 'root:x:0:\nnogroup:x:65534:\n');
  await host.files.write('/etc/shadow', 'root:*:1:\n');
  return host;
}

const ended = (stdout: string, code = 0, stderr = ''): RunResult => {
  return { code, stdout, stderr, signal: undefined, timedOut: false };
};

async function systemctl(files: Files, args: readonly string[]): Promise<RunResult> {
  const [verb, ...names] = args.filter((arg) => !arg.startsWith('--'));
  if (verb === 'daemon-reload') return ended('');
  let stdout = '';
  for (const name of names) {
    const state = await stateOf(files, name);
    if (state === 'not-found') return ended(stdout, 1, `Failed to ${verb} unit: Unit file ${name} does not exist.`);
    if (verb === 'is-enabled') stdout += `${state}\n`;
    if (verb === 'disable') await removeLinks(files, name);
    if (verb !== 'enable') continue;
    if (state === 'masked') return ended('', 1, `Failed to enable unit: Unit file ${name} is masked.`);
    await makeLinks(files, name);
  }
  return ended(stdout);
}

async function stateOf(files: Files, name: string): Promise<string> {
  const own = await files.facts(posix.join(unitFolder, name));
  if (own?.kind === 'link') return 'masked';
  if (own === undefined && (await files.facts(`/usr/lib/systemd/system/${name}`)) === undefined) return 'not-found';
  return (await linksOf(files, name)).length > 0 ? 'enabled' : 'disabled';
}

async function linksOf(files: Files, name: string): Promise<readonly string[]> {
  const folders = ((await files.list(unitFolder)) ?? []).filter((folder) => folder.endsWith('.wants'));
  const links: string[] = [];
  for (const folder of folders) {
    const path = posix.join(unitFolder, folder, name);
    if ((await files.facts(path)) !== undefined) links.push(path);
  }
  return links;
}

async function removeLinks(files: Files, name: string): Promise<void> {
  for (const link of await linksOf(files, name)) {
    await files.remove(link);
    await files.removeEmptyFolder(posix.dirname(link));
  }
}

async function makeLinks(files: Files, name: string): Promise<void> {
  const own = (await files.readIfPresent(posix.join(unitFolder, name))) ?? new Uint8Array();
  const target = /^WantedBy=(.*)$/m.exec(Buffer.from(own).toString('utf8'))?.[1] ?? 'multi-user.target';
  const folder = posix.join(unitFolder, `${target}.wants`);
  if ((await files.facts(posix.join(folder, name))) !== undefined) return;
  await files.makeFolder(folder);
  await files.symlink(posix.join(unitFolder, name), posix.join(folder, name));
}

async function userProgram(files: Files, program: string, input: string): Promise<RunResult> {
  const [passwd, group, shadow] = ['/etc/passwd', '/etc/group', '/etc/shadow'] as const;
  const edit = async (path: string, change: (text: string) => string): Promise<void> =>
    files.write(path, change(await files.readText(path)));
  if (program === 'useradd') {
    await edit(passwd, (text) => `${text}core:x:1000:1000::/home/core:/bin/sh\n`);
    await edit(shadow, (text) => `${text}core:*:1:\n`);
    await edit(group, (text) => `${text}core:x:1000:\n`);
    await files.makeFolder('/home/core');
    return ended('');
  }
  if (program === 'userdel') {
    await files.remove('/home/core');
    for (const path of [group, shadow, passwd]) await edit(path, (text) => text.replace(/^core:.*\n/m, ''));
    return ended('');
  }
  if (program !== 'chpasswd') return ended('', 127, `${program}: not found`);
  await edit(shadow, (text) => text.replace(/^core:[^:]*/m, input.trim()));
  return ended('');
}

/**
 * Everything on the disk, for comparison: path → kind, mode, owner, contents. Without empty folders of targets, which
 * a systemctl that is killed leaves, and which mean nothing.
 */
export function picture({ disk }: FakeHost): Readonly<Record<string, string>> {
  const rows = [...disk.nodes].map(([path, node]): [string, string] => {
    if (node.kind === 'link') return [path, `link ${node.target}`];
    const { uid, gid } = node.owner ?? { uid: 0, gid: 0 };
    const content = node.kind === 'file' ? node.content.toString('utf8') : '';
    return [path, `${node.kind} ${node.mode.toString(8)} ${uid}:${gid} ${content}`];
  });
  const isEmptyTarget = (path: string): boolean =>
    path.endsWith('.wants') && ![...disk.nodes.keys()].some((other) => other.startsWith(`${path}/`));
  const counted = rows.filter(([path]) => !isEmptyTarget(path));
  return Object.fromEntries(counted.sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** The same machine after its programs were killed; nothing of what was written is lost. */
export async function restarted(host: FakeHost): Promise<FakeHost> {
  const { disk } = host;
  const nodes = new Map([...disk.nodes].map(([path, node]) => [path, { ...node }]));
  return fakeMachine({ disk: { nodes, changes: 0, isFull: false, locked: new Set() } });
}
