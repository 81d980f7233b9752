// One run of the bootstrapper or of the hook: lock, decide, carry out. A dry run stops after deciding and, where it
// cannot decide, says how far it got.
import { FirstlightError } from '../errors/firstlight-error.ts';
import type { TorcxAction } from './actions.ts';
import { carryOut } from './carry-out.ts';
import type { TorcxContext } from './context.ts';
import { nodePaths } from './context.ts';
import { decideTorcx } from './decide.ts';
import { torcxErrors } from './errors.ts';
import { type Ledger, newLedger } from './ledger.ts';

export interface TorcxOutcome {
  readonly status: 'done' | 'rebooting' | 'dry-run' | 'blocked';
  readonly ledger: Ledger;
  readonly actions: readonly TorcxAction[];
  /** Why a dry run could not go on. */
  readonly blockedBy?: FirstlightError;
}

export async function runTorcx(context: TorcxContext): Promise<TorcxOutcome> {
  const ledger = newLedger();
  if (context.settings.isDryRun) return dryRun(context, ledger);
  await using _lock = await takeLock(context);
  const { actions, torcx, bucket } = await decideTorcx(context, ledger);
  const isRebooting = await carryOut(context, actions, { torcx, bucket });
  return { status: isRebooting ? 'rebooting' : 'done', ledger, actions };
}

async function dryRun(context: TorcxContext, ledger: Ledger): Promise<TorcxOutcome> {
  try {
    const { actions } = await decideTorcx(context, ledger);
    return { status: 'dry-run', ledger, actions };
  } catch (error) {
    if (!(error instanceof FirstlightError)) throw error;
    context.signal.throwIfAborted();
    return { status: 'blocked', ledger, actions: [], blockedBy: error };
  }
}

async function takeLock({ host, at }: TorcxContext): Promise<AsyncDisposable> {
  await host.files.makeFolder(at(nodePaths.runFolder));
  const lock = await host.files.lockFile(at(nodePaths.lock));
  if (lock === undefined) throw torcxErrors.LOCKED({ path: nodePaths.lock });
  return lock;
}
