// The first start of a new etcd member, outside of the kubelet. A new member proposes its name and serves clients once
// it applies that entry. If the leader's first snapshot already contains the name, the member never applies the entry
// and serves no client until the proposal times out after seven seconds. A second start on the same data serves at
// once. So the first start is made here: the kubelet would take two more seconds to notice that a container ended.
import { waitingFor } from '../contract/missing.ts';
import { etcdPorts } from '../contract/ports.ts';
import { isError } from '../errors/firstlight-error.ts';
import { hostErrors } from '../host/errors.ts';
import type { Host } from '../host/host.ts';
import type { RunOptions } from '../host/processes.ts';
import { workflowErrors } from '../workflow/errors.ts';
import { waitUntil } from '../workflow/wait.ts';

/** Longer than a small snapshot takes. After this time the first start happens in the pod and takes seven seconds. */
const deadlineMs = 10_000;

export interface PrimeOptions {
  readonly program: string;
  readonly flags: readonly string[];
  /** The user whose the data is to be. Default: the user of this process. */
  readonly as?: RunOptions['as'];
  readonly metricsPort?: number;
  readonly signal: AbortSignal;
}

export type PrimeResult =
  /** The member has its data, and etcd has ended. */
  | { readonly status: 'has-data' }
  /** etcd ended by itself, as it would have in a pod. */
  | { readonly status: 'ended'; readonly said: string }
  | { readonly status: 'no-data'; readonly why: string };

export async function primeEtcd(host: Host, options: PrimeOptions): Promise<PrimeResult> {
  const { program, flags, as, metricsPort = etcdPorts.metrics, signal } = options;
  const enough = new AbortController();
  const either = AbortSignal.any([signal, enough.signal]);
  const running = host.processes.run(program, flags, { signal: either, keepBytes: 4096, as });
  const ended = running.then(
    ({ stderr }): PrimeResult => ({ status: 'ended', said: lastLogLine(stderr) }),
    (error: unknown): PrimeResult => {
      if (!enough.signal.aborted) throw error;
      return { status: 'has-data' };
    },
  );
  try {
    return await Promise.race([ended, hasItsData(host, metricsPort, either)]);
  } catch (error) {
    if (isError(error, hostErrors.PROGRAM_MISSING) || isError(error, workflowErrors.DEADLINE)) {
      return { status: 'no-data', why: error.message };
    }
    throw error;
  } finally {
    enough.abort(new Error('the member has its data'));
    await ended.catch(() => undefined);
  }
}

async function hasItsData(host: Host, port: number, signal: AbortSignal): Promise<PrimeResult> {
  await waitUntil({
    clock: host.clock,
    what: 'that a new member of etcd has its data',
    deadlineMs,
    everyMs: 50,
    signal,
    probe: async () => {
      try {
        const url = `http://127.0.0.1:${port}/metrics`;
        const { status, body } = await host.network.request({ url, timeoutMs: 500 });
        if (status === 200 && isCaughtUp(Buffer.from(body).toString('utf8'))) return { status: 'ready', value: true };
      } catch (error) {
        if (!isError(error, hostErrors.NETWORK)) throw error;
      }
      return { status: 'waiting', missing: [waitingFor('its snapshot')] };
    },
  });
  return { status: 'has-data' };
}

/** The last message of etcd's log, which is JSON. */
function lastLogLine(stderr: string): string {
  const line = stderr.trim().split('\n').at(-1) ?? '';
  try {
    const { msg, error } = JSON.parse(line) as { readonly msg?: string; readonly error?: string };
    return [msg, error].filter((part) => part !== undefined).join(': ') || line;
  } catch {
    return line;
  }
}

/** The member follows a leader, has applied something, and has applied everything that it knows as committed. */
export function isCaughtUp(metrics: string): boolean {
  const value = (name: string): number => Number(new RegExp(`^etcd_server_${name} (\\S+)$`, 'm').exec(metrics)?.[1]);
  const applied = value('proposals_applied_total');
  return value('has_leader') === 1 && applied > 0 && applied >= value('proposals_committed_total');
}
