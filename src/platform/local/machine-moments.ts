// When things happened in a machine: its own timeline, the messages of its systemd about units in the journal, and the
// first line of every container's log. Read from files alone, so it costs the machine nothing and works when it is
// stopped.
import { join } from 'node:path';
import { z } from 'zod';
import { apiPort, configServerPort } from '../../contract/ports.ts';
import { type Moment, parseTimeline, timelineFile } from '../../contract/timeline.ts';
import type { Host } from '../../host/host.ts';
import { podLogFolder } from '../container-logs.ts';
import type { MachineFiles } from '../platform.ts';
import { machinePaths, switchFolder } from './cluster-folder.ts';
import { machineFiles } from './machine-files.ts';
import { readMachine } from './machine-folder.ts';

/** Identifiers of systemd's messages: a unit is being started, was started; the journal, the first service, runs. */
const messages = {
  starting: '7d4958e842da4a758f6c1cdc7b36dcc5',
  started: '39f53479d3a045ac8e11786248231fbf',
  journal: 'f77379a8490b408bbe5f6940505a777b',
} as const;

export async function machineMoments(host: Host, cluster: string, machine: string): Promise<readonly Moment[]> {
  const written = machineFiles(host.files, cluster, machine);
  const timeline = await written.readIfPresent(timelineFile);
  const found = await Promise.all([unitMoments(host, cluster, machine), containerMoments(written)]);
  return [...found.flat(), ...parseTimeline(Buffer.from(timeline ?? new Uint8Array()).toString('utf8'))];
}

async function unitMoments(host: Host, cluster: string, machine: string): Promise<readonly Moment[]> {
  const known = await readMachine(host, cluster, machine);
  if (known === undefined) return [];
  const folder = join(machinePaths(cluster, machine).upper, 'var/log/journal', known.machineId);
  const matches = Object.values(messages).map((id) => `MESSAGE_ID=${id}`);
  const fields = '--output-fields=MESSAGE_ID,UNIT';
  const args = [`--directory=${folder}`, '--output=json', fields, '--no-pager', ...matches];
  const { stdout } = await host.processes.run('journalctl', args, { timeoutMs: 10_000 });
  return parseUnitEntries(stdout);
}

const entrySchema = z.looseObject({
  __REALTIME_TIMESTAMP: z.string(),
  MESSAGE_ID: z.string(),
  UNIT: z.string().optional(),
});

export function parseUnitEntries(lines: string): readonly Moment[] {
  return lines.split('\n').flatMap((line): readonly Moment[] => {
    if (line === '') return [];
    const parsed = entrySchema.safeParse(JSON.parse(line));
    if (!parsed.success) return [];
    const { __REALTIME_TIMESTAMP: us, MESSAGE_ID: id, UNIT: unit } = parsed.data;
    const of = { by: 'systemd', at: new Date(Number(us) / 1000).toISOString() } as const;
    if (id === messages.journal) return [{ ...of, step: 'systemd', state: 'began' }];
    if (unit === undefined || !unit.endsWith('.service') || unit.startsWith('systemd-')) return [];
    return [{ ...of, step: unit.replace(/\.service$/, ''), state: id === messages.starting ? 'began' : 'done' }];
  });
}

/** By the first line of its log: a component logs something as soon as it runs. */
async function containerMoments(written: MachineFiles): Promise<readonly Moment[]> {
  const found: Moment[] = [];
  for (const pod of (await written.list(podLogFolder)) ?? []) {
    for (const container of (await written.list(join(podLogFolder, pod))) ?? []) {
      const log = await written.readIfPresent(join(podLogFolder, pod, container, '0.log'));
      const at = /^(\S+) /.exec(Buffer.from(log?.subarray(0, 64) ?? '').toString('utf8'))?.[1];
      if (at === undefined || Number.isNaN(Date.parse(at))) continue;
      const [namespace = '', name = ''] = pod.split('_');
      found.push({
        at: new Date(at).toISOString(),
        by: 'container',
        step: container,
        state: 'began',
        text: `${namespace}/${name}`,
      });
    }
  }
  return found;
}

/** From when to when the load balancer used which machine: haproxy logs every change of a health check. */
export async function loadBalancerMoments({ files }: Pick<Host, 'files'>, cluster: string): Promise<readonly Moment[]> {
  const log = await files.readIfPresent(join(switchFolder(cluster), 'load-balancer.log'));
  return parseBackendLines(Buffer.from(log ?? new Uint8Array()).toString('utf8'));
}

const ports: Readonly<Record<string, number>> = { api: apiPort, 'config-server': configServerPort };
const backendLine = /^(\d{4}-\S+) .*Server ([\w-]+)\/(\S+) is (UP|DOWN)/;

export function parseBackendLines(text: string): readonly Moment[] {
  return text.split('\n').flatMap((line): readonly Moment[] => {
    const [, at = '', backend = '', machine = '', state] = backendLine.exec(line) ?? [];
    const port = ports[backend];
    if (state === undefined || port === undefined) return [];
    const step = `${port} ${machine}`;
    return [{ at: new Date(at).toISOString(), by: 'haproxy', step, state: state === 'UP' ? 'began' : 'done' }];
  });
}
