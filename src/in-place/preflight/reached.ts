// What came of a request, as a fact: an answer of any status, or the point at which the connection broke.
import { isError } from '../../errors/firstlight-error.ts';
import { hostErrors } from '../../host/errors.ts';
import type { Reached } from './facts.ts';

export async function reached<Value>(request: () => Promise<Value>): Promise<Reached<Value>> {
  try {
    return { status: 'answered', value: await request() };
  } catch (error) {
    if (!isError(error, hostErrors.NETWORK)) throw error;
    const { failure, reason } = error.details;
    if (failure === 'aborted') throw error;
    const stage = failure === 'dns' || failure === 'tls' ? failure : 'connect';
    return { status: 'unreached', stage, detail: reason };
  }
}
