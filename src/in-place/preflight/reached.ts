// What came of a request, as a fact: an answer of any status, or the point at which the connection broke.
import { isError } from '../../errors/firstlight-error.ts';
import { hostErrors } from '../../host/errors.ts';
import type { NetworkFailure } from '../../host/network.ts';
import type { Reached } from './facts.ts';

export async function reached<Value>(request: () => Promise<Value>): Promise<Reached<Value>> {
  try {
    return { status: 'answered', value: await request() };
  } catch (error) {
    if (!isError(error, hostErrors.NETWORK)) throw error;
    const { failure, reason } = error.details;
    if (failure === 'aborted') throw error;
    return { status: 'unreached', stage: stageOf(failure), detail: reason };
  }
}

function stageOf(failure: NetworkFailure): Extract<Reached<unknown>, { status: 'unreached' }>['stage'] {
  if (failure === 'dns' || failure === 'tls') return failure;
  return failure === 'too-large' ? 'answer' : 'connect';
}
