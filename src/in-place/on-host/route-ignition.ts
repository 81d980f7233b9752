// Route one: the machine gets the MachineConfig of its pool by the daemon of that config's release, from a file, before
// any kubelet runs. The daemon's own transaction makes it whole or not at all; the file is gone when it is done.
import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { z } from 'zod';
import { endUnfinishedChange } from '../../config-daemon/complete-first-boot.ts';
import { attemptFiles, programLauncher } from '../../contract/in-place.ts';
import { daemonFiles } from '../../contract/machine-config-node.ts';
import { configDaemonProgram } from '../../contract/machine-paths.ts';
import { FirstlightError, isError } from '../../errors/firstlight-error.ts';
import { jsonIfValid } from '../../host/json-if-valid.ts';
import type { RunResult } from '../../host/processes.ts';
import { inPlaceErrors } from '../errors.ts';
import { fetchIgnition, inPlaceConfig } from './fetch-ignition.ts';
import { giveBackIdentity, setUnfitIdentityAside } from './kubelet-identity.ts';
import type { WorkState } from './next-host-step.ts';
import type { InPlaceRoute, RouteContext, WorkOutcome } from './route.ts';
import { takeDaemon } from './take-daemon.ts';

/** What was laid ready; written when everything else is. */
const readySchema = z.object({ config: z.string(), program: z.string(), kubeconfig: z.string() });
type Ready = z.infer<typeof readySchema>;

export function ignitionRoute(context: RouteContext): InPlaceRoute {
  return {
    look: ({ phase }) => look(context, phase === 'LabelCleared'),
    prepare: () => prepare(context),
    work: (_, deadlineMs) => apply(context, deadlineMs),
    undo: async () => {
      await endUnfinishedChange(context.host);
      await giveBackIdentity(context.host, context.settings.attemptId);
      return true;
    },
    tidy: () => context.host.files.remove(daemonFiles.encapsulated),
  };
}

function readyPath({ settings }: RouteContext): string {
  return `${attemptFiles(settings.attemptId).folder}/ready.json`;
}

async function readReady(context: RouteContext): Promise<Ready | undefined> {
  const content = await context.host.files.readIfPresent(readyPath(context));
  return content === undefined ? undefined : readySchema.safeParse(jsonIfValid(content)).data;
}

/** The work begins only when the file is there, so that afterwards its absence means that the work is done. */
async function look(context: RouteContext, isBefore: boolean): Promise<WorkState> {
  const isThere = (await context.host.files.facts(daemonFiles.encapsulated)) !== undefined;
  if (!isBefore) return isThere ? 'prepared' : 'done';
  return isThere && (await readReady(context)) !== undefined ? 'prepared' : 'unprepared';
}

async function prepare(context: RouteContext): Promise<WorkOutcome> {
  const { host, settings, signal, report } = context;
  const { ignition, program: own } = attemptFiles(settings.attemptId);
  const { secret } = settings.grant;
  try {
    const payload = (await host.files.readIfPresent(ignition)) ?? (await fetchIgnition(host, secret, signal));
    await host.files.write(ignition, payload, { mode: 0o600 });
    const { name, text, kubeconfig, release } = inPlaceConfig(payload, secret['ignition-url'] ?? '');
    const program = await takeDaemon(host, settings, { release, signal });
    const isOwn = program === own;
    await host.files.write(daemonFiles.encapsulated, text, { mode: 0o600 });
    const ready: Ready = { config: name, program, kubeconfig };
    await host.files.write(readyPath(context), JSON.stringify(ready), { mode: 0o600 });
    const digest = createHash('sha256').update(payload).digest('hex');
    await report({
      phase: 'LabelCleared',
      step: 'download',
      status: 'progress',
      message: `${name} is downloaded, with ${isOwn ? 'the daemon of its release' : `the daemon out of ${release?.daemonImage}`}`,
      digests: { [posix.basename(ignition)]: digest },
    });
    return { status: 'done' };
  } catch (error) {
    if (!(error instanceof FirstlightError)) throw error;
    const isFinal = [inPlaceErrors.PAYLOAD_REFUSED, inPlaceErrors.PAYLOAD_UNUSABLE].some((row) => isError(error, row));
    if (!isFinal) return { status: 'again', reason: error.message };
    await host.files.remove(ignition);
    return { status: 'failed', code: error.code, message: error.message };
  }
}

const lookAgainMs = 100;

async function apply(context: RouteContext, deadlineMs: number): Promise<WorkOutcome> {
  const { host, settings, signal, log, report } = context;
  const ready = await readReady(context);
  if (ready === undefined) return { status: 'failed', code: 'NotReady', message: `${readyPath(context)} is gone` };
  await setUnfitIdentityAside(host, settings.attemptId, ready.kubeconfig);
  const lines: string[] = [];
  const program = posix.join(ready.program, programLauncher);
  const args = [configDaemonProgram, 'firstboot-complete-machineconfig', '--root-mount=/'];
  const onLine = (line: string): void => {
    lines.push(line);
    log(line);
  };
  const ended: { result?: RunResult } = {};
  const running = host.processes.run(program, args, { timeoutMs: deadlineMs, signal, onLine }).then((result) => {
    ended.result = result;
    return result;
  });
  // When it has applied the config it asks for the reboot and waits for it; the file is gone by then.
  while (ended.result === undefined && (await look(context, false)) !== 'done') {
    await Promise.race([running, host.clock.sleep(lookAgainMs, signal)]);
  }
  if ((await look(context, false)) === 'done') {
    // It ends with the machine, or has ended because nothing had to change.
    running.catch(() => undefined);
    const notes = lines.filter((line) => line.startsWith('/'));
    if (notes.length > 0) {
      await report({ phase: 'Applying', step: 'leftovers', status: 'progress', message: notes.join('\n') });
    }
    return { status: 'done' };
  }
  const { timedOut, code, signal: killedBy } = await running;
  if (timedOut)
    return { status: 'failed', code: 'ApplyTimeout', message: `no end within ${deadlineMs / 60_000} minutes` };
  const reason = lines.findLast((line) => line.trim() !== '') ?? `it ended with ${code ?? killedBy}`;
  return { status: 'failed', code: 'NotApplied', message: `${ready.config}: ${lines[0]?.trim() || reason}` };
}
