// The failure of a connection as data: its kind and its message, to be sent out of the machine.
import { isError } from '../../errors/firstlight-error.ts';
import { hostErrors } from '../../host/errors.ts';
import type { NetworkFailure } from '../../host/network.ts';

export interface FailedAttempt {
  failure?: NetworkFailure;
  reason?: string;
}

/** Without fields when it succeeds. */
export async function attempt(trying: Promise<unknown>): Promise<FailedAttempt> {
  try {
    await trying;
    return {};
  } catch (error) {
    return failedAttempt(error);
  }
}

export function failedAttempt(error: unknown): FailedAttempt {
  if (!isError(error, hostErrors.NETWORK)) throw error;
  const { failure, reason } = error.details;
  return { failure, reason };
}
