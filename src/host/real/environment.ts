// Reads what this process was started with.
import { availableParallelism, homedir, hostname, tmpdir, totalmem } from 'node:os';
import type { Environment } from '../environment.ts';

export function realEnvironment(): Environment {
  return {
    variables: { ...process.env },
    workingFolder: process.cwd(),
    homeFolder: homedir(),
    temporaryFolder: tmpdir(),
    hostname: hostname(),
    pid: process.pid,
    uid: process.getuid?.() ?? 0,
    architecture: process.arch,
    cpuCount: availableParallelism(),
    memoryBytes: totalmem(),
    nodePath: process.execPath,
    programPath: process.argv[1] ?? '',
  };
}
