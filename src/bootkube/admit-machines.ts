// approve-csr.service: admits the expected machines during the bootstrap. It publishes the tokens of the config server
// as Secrets. It approves certificate requests only while it holds the approver Lease, which a master holds later.

import { dirname, join } from 'node:path';
import { type AdmitEvent, admitNodes } from '../admission/admit-nodes.ts';
import { namesOf } from '../assets/cluster-names.ts';
import { loopbackKubeconfigPath } from '../contract/asset-folder.ts';
import { approverLease, systemNamespace } from '../contract/cluster-objects.ts';
import { configServerPaths } from '../contract/machine-paths.ts';
import { FirstlightError } from '../errors/firstlight-error.ts';
import type { Host } from '../host/host.ts';
import { connectKubernetes, type KubernetesClient } from '../kubernetes/client.ts';
import { leadWhile } from '../kubernetes/lease.ts';
import { Doorbell } from '../workflow/doorbell.ts';
import type { Emit } from '../workflow/events.ts';
import { pause } from '../workflow/pause.ts';
import { type BootkubeContext, loadContext } from './context.ts';
import { publishTokens } from './publish-tokens.ts';

const publishEveryMs = 1_000;
const retryMs = 1_000;

export interface AdmitMachinesOptions {
  readonly host: Host;
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

/** Runs until the signal is aborted, or until an unexpected error. */
export async function admitMachines({ host, emit, signal }: AdmitMachinesOptions): Promise<never> {
  const context = await loadContext(host, emit);
  const kubeconfig = { path: join(context.folders.assets, loopbackKubeconfigPath) };
  await using client = await connectKubernetes(host, kubeconfig);
  // Each loop restarts on its own: if one failure restarted both, the other loop would run twice.
  await Promise.all([
    keepOn({ host, emit, signal }, () => publishForEver(context, client, signal)),
    keepOn({ host, emit, signal }, () => approveForEver(context, client, signal)),
  ]);
  throw new Error('it ends only by throwing');
}

async function keepOn({ host, emit, signal }: AdmitMachinesOptions, run: () => Promise<void>): Promise<never> {
  for (;;) {
    signal.throwIfAborted();
    try {
      await run();
    } catch (error) {
      signal.throwIfAborted();
      // The API is not ready yet, or was unreachable for a moment. In every case `run` starts again from the beginning.
      if (!(error instanceof FirstlightError)) throw error;
      emit({ kind: 'notice', level: 'info', text: error.message });
      await host.clock.sleep(retryMs, signal);
    }
  }
}

async function publishForEver(
  { host, emit }: BootkubeContext,
  client: KubernetesClient,
  signal: AbortSignal,
): Promise<never> {
  const ledgerChanged = new Doorbell();
  await host.files.makeFolder(dirname(configServerPaths.tokenLedger), { mode: 0o700 });
  using _watch = host.files.watch(dirname(configServerPaths.tokenLedger), () => ledgerChanged.ring());
  for (;;) {
    const { rings } = ledgerChanged;
    const count = await publishTokens(host, client);
    if (count > 0)
      emit({ kind: 'notice', level: 'info', text: `${count} tokens of new machines are known to the API` });
    const wake = (over: AbortSignal): Promise<void> => ledgerChanged.rung(rings, over);
    await pause(host.clock, { ms: publishEveryMs, signal, wake });
    signal.throwIfAborted();
  }
}

async function approveForEver(context: BootkubeContext, client: KubernetesClient, signal: AbortSignal): Promise<void> {
  const { host, emit, inventory, machine } = context;
  const identity = `${machine.name}-${host.environment.pid}`;
  await leadWhile({ client, host, namespace: systemNamespace, name: approverLease, identity, signal }, (leadership) =>
    admitNodes({
      client,
      host,
      inventory: async () => inventory,
      virtualAddresses: namesOf(context.installConfig).apiVips,
      machineNetworks: context.installConfig.networking.machineNetwork.map(({ cidr }) => cidr),
      signal: leadership.signal,
      mayAct: () => leadership.mayAct(),
      onEvent: (event) => emit({ kind: 'notice', level: 'info', text: admitWords(event) }),
    }),
  );
}

export function admitWords(event: AdmitEvent): string {
  switch (event.kind) {
    case 'approved':
      return `approved ${event.request} of ${event.decision.nodeName}: ${event.decision.reason}`;
    case 'left-pending':
      return `left ${event.request} pending: ${event.reason}`;
    case 'removed':
      return `removed ${event.count} requests of ${event.username}: ${event.reason}`;
    case 'labelled':
      return `${event.node} is labelled ${event.labels.join(', ')}`;
    case 'token-deleted':
      return `the token of ${event.node} has done its work and is deleted`;
    case 'trouble':
      return event.error.message;
  }
}
