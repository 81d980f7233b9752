// How a connection that could not be made is told to whoever asked: the kind of failure and its words, no error.
import { isError } from '../../errors/firstlight-error.ts';
import { hostErrors } from '../../host/errors.ts';
import type { NetworkFailure } from '../../host/network.ts';

export interface FailedAttempt {
  failure?: NetworkFailure;
  reason?: string;
}

/** No field when it went well. */
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
