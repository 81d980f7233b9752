// First boot, as it runs inside a machine: the real Ignition fetches and applies the machine's config, the units that
// it named are enabled or disabled, then systemd reloads and starts the machine's target. The status is written before
// the config is deleted: a run that finds the status `done` only deletes the config.
import { dirname } from 'node:path';
import { saveServedOriginals } from '../config-daemon/originals.ts';
import { type FirstBootStatus, firstBootStatusPath, readFirstBootStatus } from '../contract/first-boot-status.ts';
import { ignitionPreset, nodeSettingsFile } from '../contract/machine-paths.ts';
import { openTimeline, type Timeline } from '../contract/timeline.ts';
import type { Host } from '../host/host.ts';
import { jsonIfValid } from '../host/json-if-valid.ts';
import type { IgnitionConfig } from '../ignition/config.ts';
import { firstBootConfigPath } from '../machine-software/first-boot-unit.ts';
import { firstBootErrors } from './errors.ts';
import { type FetchAttempt, failureReason, nextAttempt, parseIgnitionLine } from './ignition-log.ts';
import { prepareNode } from './prepare-node.ts';

/** One stage of Ignition writes it, the next reads it; it contains the whole config. */
const configCache = '/run/ignition.json';
const stateFile = '/run/ignition-state.json';

export interface FirstBootOptions {
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
}

export async function runFirstBoot(host: Host, options: FirstBootOptions): Promise<FirstBootStatus> {
  const earlier = await readFirstBootStatus(host.files, firstBootStatusPath);
  if (earlier?.phase === 'done') {
    await host.files.remove(firstBootConfigPath);
    return earlier;
  }
  const report = statusReporter(host);
  await host.files.makeFolder(dirname(firstBootStatusPath));
  try {
    await runIgnition(host, 'fetch', { ...options, report });
    await keepOriginals(host);
    await runIgnition(host, 'files', { ...options, report });
    await report({ phase: 'presets' });
    await applyPresets(host);
    await systemctl(host, ['daemon-reload']);
  } catch (error) {
    await report({ phase: 'failed', reason: error instanceof Error ? error.message : String(error) });
    throw error;
  }
  await prepareAlready(host, options);
  for (const path of [configCache, stateFile]) await host.files.remove(path);
  const done = await report({ phase: 'done' });
  await host.files.remove(firstBootConfigPath);
  // systemd queued the jobs of this boot before Ignition wrote its units. Isolating the target queues them again, as
  // the switch from initramfs to root does elsewhere. Without waiting: the job can only run when this unit has ended.
  await systemctl(host, ['--no-block', 'isolate', 'default.target']);
  return done;
}

/** Of what Ignition is about to replace: when a path leaves the config of the machine, its original comes back. */
async function keepOriginals(host: Host): Promise<void> {
  const fetched = jsonIfValid((await host.files.readIfPresent(configCache)) ?? '');
  if (fetched !== undefined) await saveServedOriginals(host, fetched as IgnitionConfig);
}

/** On a node this makes the start of firstlight-prepare.service unnecessary; when it fails, that unit tries again. */
async function prepareAlready(host: Host, { log }: FirstBootOptions): Promise<void> {
  if ((await host.files.facts(nodeSettingsFile)) === undefined) return;
  await prepareNode(host).catch((error: unknown) => log(`not prepared yet: ${String(error)}`));
}

type Report = (change: Pick<FirstBootStatus, 'phase' | 'reason' | 'waitingFor'>) => Promise<FirstBootStatus>;

/** Writes the status file; changes are written one after the other, so the file has the newest. */
function statusReporter(host: Host): Report {
  const startedAt = host.clock.now();
  const timeline = openTimeline(host, 'first-boot');
  let last = Promise.resolve();
  return async (change) => {
    noteIn(timeline, change);
    const now = host.clock.now();
    const tookMs = now.getTime() - startedAt.getTime();
    const status: FirstBootStatus = {
      ...change,
      startedAt: startedAt.toISOString(),
      updatedAt: now.toISOString(),
      ...(change.phase === 'done' ? { tookMs } : {}),
    };
    last = last.then(() =>
      host.files.write(firstBootStatusPath, `${JSON.stringify(status)}\n`, { isDurable: change.phase === 'done' }),
    );
    await last;
    if (change.phase === 'done' || change.phase === 'failed') await timeline.idle();
    return status;
  };
}

/** Each phase once; a fetch is marked as moved at the first attempt of each URL. */
function noteIn(timeline: Timeline, { phase, reason, waitingFor }: Parameters<Report>[0]): void {
  if (phase === 'done' || phase === 'failed')
    return timeline.mark('first-boot', phase, reason === undefined ? {} : { text: reason });
  timeline.mark('first-boot', 'began');
  timeline.mark(phase, 'began');
  if (waitingFor?.attempts === 1)
    timeline.mark(phase, 'moved', { text: `${waitingFor.url} ${waitingFor.reason ?? ''}`.trim() });
}

interface IgnitionOptions extends FirstBootOptions {
  readonly report: Report;
}

async function runIgnition(host: Host, stage: 'fetch' | 'files', options: IgnitionOptions): Promise<void> {
  await options.report({ phase: stage });
  let current: FetchAttempt | undefined;
  let since = host.clock.now();
  const onLine = (line: string, stream: 'stdout' | 'stderr'): void => {
    // Ignition's log is on stdout; on stderr a failing Ignition prints the whole config with its secrets.
    if (stream === 'stderr') return;
    options.log(line);
    const event = parseIgnitionLine(line);
    if (event === undefined) return;
    const next = nextAttempt(current, event);
    if (next?.url !== current?.url) since = host.clock.now();
    current = next;
    const waitingFor = next === undefined ? {} : { waitingFor: { ...next, since: since.toISOString() } };
    options.report({ phase: stage, ...waitingFor }).catch((error: unknown) => options.log(String(error)));
  };
  const args = ['--root', '/', '--platform', 'file', '--stage', stage, '--log-to-stdout'];
  const files = ['--config-cache', configCache, '--state-file', stateFile];
  const result = await host.processes.run('ignition', [...args, ...files], {
    env: { IGNITION_CONFIG_FILE: firstBootConfigPath },
    signal: options.signal,
    onLine,
    keepBytes: 256 * 1024,
  });
  if (result.code === 0) return;
  const reason = failureReason(result.stdout) ?? `exit status ${result.code ?? result.signal}`;
  throw firstBootErrors.IGNITION({ stage, reason });
}

/** Only the units that Ignition named: the others stay as the root was built, whatever Debian's default preset is. */
async function applyPresets(host: Host): Promise<void> {
  const content = await host.files.readIfPresent(ignitionPreset);
  const units = presetUnits(Buffer.from(content ?? new Uint8Array()).toString('utf8'));
  // Without a reload: the caller reloads once for everything.
  if (units.length > 0) await systemctl(host, ['--no-reload', 'preset', ...units]);
}

/** Units of a preset file (systemd.preset(5)): `enable echo@.service a b` names echo@a.service and echo@b.service. */
export function presetUnits(preset: string): readonly string[] {
  const units = preset.split('\n').flatMap((line) => {
    const [verb, name, ...instances] = line.trim().split(/\s+/);
    if ((verb !== 'enable' && verb !== 'disable') || name === undefined || name === '') return [];
    if (instances.length === 0) return [name];
    return instances.map((instance) => name.replace('@.', `@${instance}.`));
  });
  return [...new Set(units)];
}

async function systemctl(host: Host, args: readonly string[]): Promise<void> {
  const result = await host.processes.run('systemctl', args, { timeoutMs: 60_000 });
  if (result.code === 0) return;
  throw firstBootErrors.SYSTEMCTL({ args: args.join(' '), reason: result.stderr.trim() });
}
