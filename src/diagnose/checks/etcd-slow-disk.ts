// The disk below etcd is so slow that its members lose their leader. The limit is the one by which a master may join.
import { etcdDataFolder } from '../../contract/machine-paths.ts';
import { growthLimits } from '../../membership/growth-limits.ts';
import type { DiagnosisCheck } from '../check.ts';

const { fsyncLimitMs } = growthLimits;

export const etcdSlowDisk: DiagnosisCheck = {
  name: 'etcd-slow-disk',
  why: 'etcd writes every change to the disk before it answers; a leader that waits too long for it is voted out.',
  looksAt: 'how long the member of each machine waits for its disk (etcd_disk_wal_fsync_duration_seconds)',
  certainty: 'reported',
  find: ({ machines }) =>
    machines.flatMap(({ name, inside }) => {
      const tookMs = inside?.etcd?.fsyncP99Ms;
      if (tookMs === undefined || tookMs <= fsyncLimitMs) return [];
      return [
        {
          machine: name,
          sentence: `the disk of ${name} is too slow for etcd: one write in a hundred takes ${Math.round(tookMs)} ms or more`,
          seen: `its member measured it since it started; etcd bears ${fsyncLimitMs} ms`,
          next: { verb: 'machine exec', rest: `${name} -- df -h ${etcdDataFolder}` },
        },
      ];
    }),
};
