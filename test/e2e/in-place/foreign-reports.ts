// A progress API of somebody else, as real machines of a cluster reach it: its certificate, its token, its address in the
// cluster's network, and what it has taken of each attempt.
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { ConfigCluster } from '../machine-config/config-lab.ts';
import { eventually, inside, makeCa } from '../machine-lab.ts';

export interface ForeignReports {
  /** For `ipb prepare`. */
  readonly options: readonly string[];
  /** `phase step` of every report of an attempt that it has taken, in their order. */
  readonly taken: (attemptId: string) => readonly string[];
  readonly stop: () => void;
}

export async function serveForeignReports(cluster: ConfigCluster, machine: string): Promise<ForeignReports> {
  const folder = join(cluster.folder, 'reports');
  mkdirSync(folder, { recursive: true });
  const gateway = (await inside(cluster.infraId(), machine, "ip route show default | awk '{print $3}'")).trim();
  const ca = makeCa(folder);
  const leaf = ca.issue(`reports.test,IP:${gateway}`);
  const files = { token: 'theirs', 'ca.pem': ca.certificate, 'server.pem': leaf.certificate, 'server.key': leaf.key };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o600 });
  const [token, caFile, certificate, key] = Object.keys(files).map((name) => join(folder, name));
  const script = resolve('test/e2e/in-place/report-server.ts');
  const server = spawn(
    'nsenter',
    [
      `--net=/run/netns/firstlight.${cluster.infraId().toLowerCase()}`,
      process.execPath,
      script,
      gateway,
      certificate ?? '',
      key ?? '',
      files.token,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let output = '';
  server.stdout.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  const url = await eventually('the start of a report server', 20, async () => /^(https:.*)\n/.exec(output)?.[1]);
  const taken = (attemptId: string): readonly string[] =>
    output
      .split('\n')
      .filter((line) => line.startsWith(`${attemptId} `))
      .map((line) => line.slice(attemptId.length + 1));
  const options = ['--report-url', url, '--report-token-file', token ?? '', '--report-ca-file', caFile ?? ''];
  return { options: [...options, '--report-required'], taken, stop: () => void server.kill() };
}
