// What the machine is and what it has left: release, operating system, clock, disks, memory, processes. Processes are
// listed without their arguments.
import { basename } from 'node:path';
import {
  containerdConfig,
  kubeletConfiguration,
  osReleaseFile,
  releaseImageFile,
  releaseReferenceFile,
} from '../../../contract/machine-paths.ts';
import type { MachineCollector } from '../machine-collector.ts';

export const systemCollector: MachineCollector = {
  name: 'system',
  takes: 'release, versions, clock, disks, memory, processes without their arguments',
  parts: [
    {
      kind: 'files',
      patterns: [releaseImageFile, releaseReferenceFile, osReleaseFile, kubeletConfiguration, containerdConfig],
      place: (path) => `system/${basename(path)}`,
    },
    { kind: 'command', file: 'system/versions.txt', command: 'uname -a; firstlight version; containerd --version' },
    { kind: 'command', file: 'system/time.txt', command: 'date --iso-8601=ns; uptime' },
    { kind: 'command', file: 'system/disks.txt', command: 'df --human-readable; df --inodes' },
    { kind: 'command', file: 'system/memory.txt', command: 'free --mebi; cat /proc/pressure/* /proc/loadavg' },
    {
      kind: 'command',
      file: 'system/processes.txt',
      command: 'ps -e --forest -o pid,ppid,user,stat,etime,time,rss,comm',
    },
  ],
};
