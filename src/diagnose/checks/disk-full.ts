// A disk without space, inodes or quota. The folder of etcd needs more space than the others: the rules of membership
// refuse a master that has less.
import { etcdDataFolder } from '../../contract/machine-paths.ts';
import type { DiagnosisCheck, DiagnosisFinding } from '../check.ts';
import type { DiagnosedMachine } from '../facts.ts';
import type { InsideFacts } from '../inside/inside-facts.ts';

type Disk = InsideFacts['disks'][number];

const mib = 2 ** 20;
const enoughForEtcd = 1024 * mib;
/** With less, containerd and the kubelet fail with errors that do not mention the disk. */
const enough = 64 * mib;

export const diskFull: DiagnosisCheck = {
  name: 'disk-full',
  why: 'Without space nothing is written: no etcd member, no container, no certificate.',
  looksAt:
    'free bytes below the folders of etcd, kubelet, containerd and journal, and whether a file can be written there',
  certainty: 'measured',
  find: ({ machines }) => machines.flatMap(findOn),
};

function findOn({ name, role, inside }: DiagnosedMachine): readonly DiagnosisFinding[] {
  const full = (inside?.disks ?? []).find((disk) => isFull(disk, role));
  if (full === undefined) return [];
  const { path, freeBytes, problem } = full;
  const free = `${Math.floor(freeBytes / mib)} MiB are free below ${path}`;
  const need = path === etcdDataFolder && problem === undefined ? `, etcd needs ${enoughForEtcd / mib} MiB` : '';
  return [
    {
      machine: name,
      sentence: `the disk of ${name} is full: ${free}${need}`,
      seen: problem === undefined ? free : `writing a file there: ${problem}`,
      next: { verb: 'machine exec', rest: `${name} -- df -h ${path}` },
    },
  ];
}

function isFull({ path, freeBytes, problem }: Disk, role: DiagnosedMachine['role']): boolean {
  if (problem !== undefined) return /no space|ENOSPC|quota|EDQUOT/i.test(problem);
  return freeBytes < (path === etcdDataFolder && role !== 'worker' ? enoughForEtcd : enough);
}
