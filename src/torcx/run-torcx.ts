// One run of the bootstrapper or of the hook: lock, decide, carry out. A dry run stops after the decision; if it cannot
// decide, its outcome holds everything that was learnt until then.
import { torcxPrograms } from '../contract/machine-paths.ts';
import { FirstlightError } from '../errors/firstlight-error.ts';
import type { Host } from '../host/host.ts';
import type { Emit } from '../workflow/events.ts';
import type { TorcxAction } from './actions.ts';
import { carryOut } from './carry-out.ts';
import { nodePaths, type TorcxContext } from './context.ts';
import { decideTorcx } from './decide.ts';
import { type DecisionLog, newDecisionLog } from './decision-log.ts';
import { torcxErrors } from './errors.ts';

export interface TorcxOutcome {
  readonly status: 'done' | 'rebooting' | 'dry-run' | 'blocked';
  readonly log: DecisionLog;
  readonly actions: readonly TorcxAction[];
  /** The error that stopped a dry run. */
  readonly blockedBy?: FirstlightError;
}

export async function runTorcx(context: TorcxContext): Promise<TorcxOutcome> {
  const log = newDecisionLog();
  if (context.settings.isDryRun) return dryRun(context, log);
  await using _lock = await takeLock(context);
  const { actions, torcx, bucket } = await decideTorcx(context, log);
  const isRebooting = await carryOut(context, actions, { torcx, bucket });
  return { status: isRebooting ? 'rebooting' : 'done', log, actions };
}

async function dryRun(context: TorcxContext, log: DecisionLog): Promise<TorcxOutcome> {
  try {
    const { actions } = await decideTorcx(context, log);
    return { status: 'dry-run', log, actions };
  } catch (error) {
    if (!(error instanceof FirstlightError)) throw error;
    context.signal.throwIfAborted();
    return { status: 'blocked', log, actions: [], blockedBy: error };
  }
}

async function takeLock({ host, at }: TorcxContext): Promise<AsyncDisposable> {
  await host.files.makeFolder(at(nodePaths.runFolder));
  const lock = await host.files.lockFile(at(nodePaths.lock));
  if (lock === undefined) throw torcxErrors.LOCKED({ path: nodePaths.lock });
  return lock;
}

const syslogTag = torcxPrograms.hookPre;
const loggerTimeoutMs = 2_000;

export interface SyslogCopy extends AsyncDisposable {
  readonly emit: Emit;
}

/**
 * Copies the hook's notices to the node's syslog with `logger`, because the log of a container does not survive the
 * reboot that the hook prepares. A node without `logger` has no copy.
 */
export function copyToSyslog(host: Host, emit: Emit): SyslogCopy {
  const lines: string[] = [];
  return {
    emit: (event) => {
      emit(event);
      if (event.kind === 'notice') lines.push(event.text);
    },
    [Symbol.asyncDispose]: async () => {
      const logger = lines.length === 0 ? undefined : await host.processes.find('logger');
      if (logger === undefined) return;
      const input = `${lines.join('\n')}\n`;
      // The node is prepared even if the copy fails.
      await host.processes
        .run(logger, ['--priority', 'user.info', '--tag', syslogTag], { input, timeoutMs: loggerTimeoutMs })
        .catch(() => {});
    },
  };
}
