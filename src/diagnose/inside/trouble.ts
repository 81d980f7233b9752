// How a connection that could not be made is told to whoever asked: the kind of failure and its words, no error.
import { isError } from '../../errors/firstlight-error.ts';
import { hostErrors } from '../../host/errors.ts';
import type { NetworkFailure } from '../../host/network.ts';

export interface Trouble {
  failure?: NetworkFailure;
  reason?: string;
}

/** No field when it went well. */
export async function attempt(trying: Promise<unknown>): Promise<Trouble> {
  try {
    await trying;
    return {};
  } catch (error) {
    return troubleOf(error);
  }
}

export function troubleOf(error: unknown): Trouble {
  if (!isError(error, hostErrors.NETWORK)) throw error;
  const { failure, reason } = error.details;
  return { failure, reason };
}
