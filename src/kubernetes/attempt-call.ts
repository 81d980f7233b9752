// One act of a controller that works in passes: what the API refuses is tried again in a later pass, so that one bad
// object does not hold up the others.
import { type ErrorKind, FirstlightError, isError } from '../errors/firstlight-error.ts';

export interface CallAttempt {
  readonly signal: AbortSignal;
  /** Whether the Lease is still held; without it nothing is done. */
  readonly mayAct: () => boolean;
  /** Refusals that only say that somebody else was faster. */
  readonly races: readonly ErrorKind[];
  readonly onTrouble: (error: FirstlightError) => void;
}

/** False when the API refused it. */
export async function attemptCall(
  { signal, mayAct, races, onTrouble }: CallAttempt,
  act: () => Promise<void>,
): Promise<boolean> {
  if (!mayAct()) return true;
  try {
    await act();
    return true;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof FirstlightError)) throw error;
    if (!races.some((race) => isError(error, race))) onTrouble(error);
    return false;
  }
}
