// First boot, as it runs inside a machine: the real Ignition fetches and applies the machine's config, the units it
// named are enabled or disabled, systemd reads everything anew and goes on to the machine's target.
// The status is written before the config is deleted: whoever finds a config with the status `done` only deletes it.
import { dirname } from 'node:path';
import type { Host } from '../host/host.ts';
import { nodeSettingsFile } from '../contract/machine-paths.ts';
import { prepareNode } from './prepare-node.ts';
import { openTimeline, type Timeline } from '../contract/timeline.ts';
import { type FirstBootStatus, firstBootStatusPath, readFirstBootStatus } from '../contract/first-boot-status.ts';
import { firstBootConfigPath } from '../machine-software/first-boot-unit.ts';
import { firstBootErrors } from './errors.ts';
import { type FetchAttempt, failureReason, nextAttempt, parseIgnitionLine } from './ignition-log.ts';

/** Where Ignition's stages hand over to each other; holds the whole config. */
const configCache = '/run/ignition.json';
const stateFile = '/run/ignition-state.json';
const presetFile = '/etc/systemd/system-preset/20-ignition.preset';

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
  // The jobs of this boot were made before Ignition wrote its units. Isolating the target again makes them anew, as
  // the switch from initramfs to root does where Ignition runs there. Not waited for: it needs this unit to end.
  await systemctl(host, ['--no-block', 'isolate', 'default.target']);
  return done;
}

/** Saves firstlight-prepare.service its start where this machine is a node; when it fails, that unit tries again. */
async function prepareAlready(host: Host, { log }: FirstBootOptions): Promise<void> {
  if ((await host.files.facts(nodeSettingsFile)) === undefined) return;
  await prepareNode(host).catch((error: unknown) => log(`not prepared yet: ${String(error)}`));
}

type Report = (change: Pick<FirstBootStatus, 'phase' | 'reason' | 'waitingFor'>) => Promise<FirstBootStatus>;

/** Writes the status file; changes are written one after the other and the newest wins. */
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

/** Each phase once; a fetch moves on to a URL, and says there what the last attempt met. */
function noteIn(timeline: Timeline, { phase, reason, waitingFor }: Parameters<Report>[0]): void {
  if (phase === 'done' || phase === 'failed') return timeline.mark('first-boot', phase, reason);
  timeline.mark('first-boot', 'began');
  timeline.mark(phase, 'began');
  if (waitingFor?.attempts === 1) timeline.mark(phase, 'moved', `${waitingFor.url} ${waitingFor.reason ?? ''}`.trim());
}

interface IgnitionOptions extends FirstBootOptions {
  readonly report: Report;
}

async function runIgnition(host: Host, stage: 'fetch' | 'files', options: IgnitionOptions): Promise<void> {
  await options.report({ phase: stage });
  let current: FetchAttempt | undefined;
  let since = host.clock.now();
  const onLine = (line: string, stream: 'stdout' | 'stderr'): void => {
    // Ignition's log is on stdout; on stderr a failing Ignition prints the whole config, secrets and all.
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

/** Only the units that Ignition named: the others are as the root was built, whatever Debian's default preset says. */
async function applyPresets(host: Host): Promise<void> {
  const content = await host.files.readIfPresent(presetFile);
  const units = presetUnits(Buffer.from(content ?? new Uint8Array()).toString('utf8'));
  // The reload that follows is for them too.
  if (units.length > 0) await systemctl(host, ['--no-reload', 'preset', ...units]);
}

/** The units that a preset file (systemd.preset(5)) names: `enable echo@.service a b` names echo@a.service, echo@b.service. */
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
