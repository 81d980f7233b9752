// What etcd itself wrote down about its membership, from the logs of every life of every member on the masters' disks.
// It judges a handoff: our own journal would believe what we believe.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { machinePaths, machinesFolder } from '../../../src/platform/local/cluster-folder.ts';

export interface MemberHistory {
  /** Peer URL → every member ID that was ever added under it. */
  readonly added: ReadonlyMap<string, ReadonlySet<string>>;
  readonly promoted: ReadonlySet<string>;
  readonly removed: ReadonlySet<string>;
  /** How many voted, change by change, as the member with the longest memory saw it. */
  readonly voterCounts: readonly number[];
}

export function memberHistory(infraId: string): MemberHistory {
  const machines = readdirSync(machinesFolder(infraId)).filter((name) => name.startsWith('master-'));
  const logs = machines.map((machine) => etcdLog(infraId, machine));
  const lines = logs.flatMap((log) => log.split('\n')).flatMap((line) => entryOf(line));
  const added = new Map<string, Set<string>>();
  for (const { msg, ...entry } of lines) {
    if (msg !== 'added member') continue;
    for (const url of entry['added-peer-peer-urls'] as readonly string[]) {
      added.set(url, (added.get(url) ?? new Set()).add(String(entry['added-peer-id'])));
    }
  }
  const idsOf = (message: string, field: string): ReadonlySet<string> =>
    new Set(lines.filter(({ msg }) => msg === message).map((entry) => String(entry[field])));
  return {
    added,
    promoted: idsOf('promote member', 'promoted-member-id'),
    removed: idsOf('removed member', 'removed-remote-peer-id'),
    voterCounts: logs.map(voterCounts).reduce((a, b) => (b.length > a.length ? b : a), []),
  };
}

type Entry = Readonly<Record<string, unknown>> & { readonly msg: string };

function entryOf(line: string): readonly Entry[] {
  if (!/"(?:added|promote|removed) member"/.test(line)) return [];
  return [JSON.parse(line.slice(line.indexOf('{'))) as Entry];
}

function etcdLog(infraId: string, machine: string): string {
  const folder = join(machinePaths(infraId, machine).upper, 'var/log/pods');
  const pods = namesIn(folder).filter((name) => name.startsWith(`kube-system_etcd-${machine}_`));
  const files = pods.flatMap((pod) =>
    namesIn(join(folder, pod, 'etcd')).map((name) => join(folder, pod, 'etcd', name)),
  );
  return files
    .toSorted((a, b) => statSync(a).mtimeMs - statSync(b).mtimeMs)
    .map((path) => readFileSync(path, 'utf8'))
    .join('');
}

/** Sizes of the voting configurations that a member went through, from raft's own words. */
export function voterCounts(log: string): readonly number[] {
  const sizes = [...log.matchAll(/switched to configuration voters=\(([^)]*)\)/g)].map(
    ([, voters = '']) => voters.split(' ').filter((id) => id !== '').length,
  );
  return sizes.filter((size, index) => size > 0 && size !== sizes[index - 1]);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
