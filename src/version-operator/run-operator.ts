// The version operator as a process: the one that holds the Lease keeps the release true and reports on the operators;
// all the others wait. Ends with its signal, and gives the Lease back.
import { versionOperator } from '../contract/cluster-version.ts';
import type { Host } from '../host/host.ts';
import { randomText } from '../host/random.ts';
import { connectKubernetes, type KubernetesClient } from '../kubernetes/client.ts';
import { type ElectionEvent, type Leadership, leadWhile } from '../kubernetes/lease.ts';
import { podCredentials } from '../kubernetes/pod-credentials.ts';
import type { Operator } from '../operators/operator.ts';
import { versionOperatorErrors } from './errors.ts';
import { VersionKeeper } from './keep-version.ts';
import { readPayload } from './payload.ts';
import { broughtOperators } from './prepare-tasks.ts';
import { reportOperators } from './report-operators.ts';

export interface VersionOperatorOptions {
  readonly client: KubernetesClient;
  /** The root of the release image. */
  readonly payloadRoot: string;
  /** Of the release, by digest. */
  readonly releaseImage: string;
  /** Of the machine that it runs on. */
  readonly node: string;
  readonly operators: readonly Operator[];
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
}

/** With the account of the pod that this process runs in. */
export async function connectAsPod(host: Host): Promise<KubernetesClient> {
  const source = podCredentials(host.environment.variables, versionOperator.name);
  if (source === undefined) throw versionOperatorErrors.NOT_IN_CLUSTER({ missing: 'KUBERNETES_SERVICE_HOST' });
  return connectKubernetes(host, source);
}

type OperatorHost = Pick<Host, 'clock' | 'files' | 'random'>;

/** Ends only by throwing: the reason of the signal, or what is wrong with the payload. */
export async function runVersionOperator(host: OperatorHost, options: VersionOperatorOptions): Promise<void> {
  const { client, node, signal, log } = options;
  const { version, images, versionHash } = await readPayload(host.files, options.payloadRoot);
  const release = { version, image: options.releaseImage };
  const operators = broughtOperators(options.operators, { images });
  log(`release ${version} (${options.releaseImage}) with ${operators.length} operators`);
  const identity = `${node}_${randomText(host.random, '0123456789abcdef', 8)}`;
  let said = '';
  // An API that is away is asked every two seconds, and said once.
  const onEvent = (event: ElectionEvent): void => {
    const line = eventLine(event);
    if (line !== said) log(line);
    said = line;
  };
  await leadWhile({ client, host, ...versionOperator, identity, signal, onEvent }, (leadership) =>
    lead({ ...options, ...leadership, host, release, versionHash, operators }),
  );
}

type LeadOptions = Omit<VersionOperatorOptions, 'signal'> &
  Leadership & {
    readonly host: OperatorHost;
    readonly release: { readonly version: string; readonly image: string };
    readonly versionHash: string;
  };

async function lead(options: LeadOptions): Promise<void> {
  const over = new AbortController();
  const signal = AbortSignal.any([options.signal, over.signal]);
  const keeper = new VersionKeeper({ ...options, signal });
  const { version } = options.release;
  const work = [
    keeper.follow(),
    keeper.passes(),
    reportOperators({
      ...options,
      version,
      capabilities: () => keeper.capabilities(),
      values: () => keeper.values(),
      signal,
    }),
  ];
  try {
    await Promise.race(work);
  } finally {
    over.abort(new Error('this operator does not lead any more'));
    await Promise.allSettled(work);
  }
}

function eventLine(event: ElectionEvent): string {
  switch (event.kind) {
    case 'leading':
      return 'holds the Lease';
    case 'stopped':
      return `gives up the Lease: ${event.reason}`;
    case 'following':
      return `waits for the Lease, which ${event.holder} holds`;
    case 'trouble':
      return `the Lease: ${event.error.message}`;
  }
}
