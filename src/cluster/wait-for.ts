// The two waits of an installation, for users who bring their own machines or have stopped `create cluster`: until the
// bootstrap machine may be removed, and until everything that belongs to the cluster works.
import { parseBootstrapProgress } from '../contract/bootstrap-progress.ts';
import { handoffConfigMap, isHandoffComplete, progressConfigMap, progressKey } from '../contract/cluster-objects.ts';
import { missingText, waitingFor } from '../contract/missing.ts';
import { FirstlightError, isError } from '../errors/firstlight-error.ts';
import type { Host } from '../host/host.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import type { Emit } from '../workflow/events.ts';
import { isHeld } from './bootstrap-phase.ts';
import { connectCluster } from './cluster-kubeconfig.ts';
import { bootstrapKey, missingNow, movementKeys } from './cluster-missing.ts';
import { apiAway } from './cluster-nodes.ts';
import { clusterErrors } from './errors.ts';
import { stallWatch } from './explain-stall.ts';
import { type FoundCluster, mustFindCluster } from './find-cluster.ts';
import { installMissing } from './install-complete.ts';
import { observeCluster } from './observe-cluster.ts';
import { type ProgressLook, type ProgressWait, type WaitLimits, waitForProgress } from './wait-for-progress.ts';

export interface WaitForOptions {
  readonly host: Host;
  readonly dir: string;
  readonly patience: WaitLimits;
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

export async function waitForBootstrap(options: WaitForOptions): Promise<void> {
  const { host, dir } = options;
  const cluster = await mustFindCluster(host, dir);
  const wait = { command: 'wait-for bootstrap-complete', stage: 'the bootstrap' };
  await waitFor(options, wait, () => lookAtBootstrap(options, cluster));
}

export async function waitForInstall(options: WaitForOptions): Promise<void> {
  const { host, dir, signal } = options;
  const cluster = await mustFindCluster(host, dir);
  try {
    const wait = { command: 'wait-for install-complete', stage: 'the installation' };
    await waitFor(options, wait, () =>
      throughApi(options, async (client) => {
        const missing = await installMissing({ client, inventory: cluster.inventory, now: host.clock.now(), signal });
        return { isDone: missing.length === 0, keys: missing.map(({ key }) => key), missing };
      }),
    );
  } catch (error) {
    if (!isError(error, clusterErrors.STALLED) && !isError(error, clusterErrors.TIMEOUT)) throw error;
    throw clusterErrors.NOT_COMPLETE(error.details, { cause: error });
  }
}

async function waitFor(
  options: WaitForOptions,
  wait: Pick<ProgressWait, 'command' | 'stage'>,
  look: () => Promise<ProgressLook>,
): Promise<void> {
  const { host, dir, patience, signal, emit } = options;
  const tell = (level: 'info' | 'warn', text: string): void => emit({ kind: 'notice', level, text });
  let told: readonly string[] = [];
  await waitForProgress({
    ...wait,
    clock: host.clock,
    patience,
    everyMs: 1_000,
    signal,
    look,
    onMissing: (missing) => {
      for (const each of missing) if (!told.includes(each.key)) tell('info', missingText(each));
      told = missing.map(({ key }) => key);
    },
    stall: stallWatch({ host, dir, signal }, (reason) => {
      if (reason !== undefined) tell('warn', `nothing moves; likely: ${reason.sentence}`);
    }),
  });
}

/** From the state file of the bootstrap machine where the platform can read it; otherwise from the API. */
async function lookAtBootstrap(options: WaitForOptions, cluster: FoundCluster): Promise<ProgressLook> {
  const observed = await observeCluster(options.host, cluster);
  if (observed.machines.some(({ role }) => role === 'bootstrap')) {
    const missing = missingNow(observed);
    const { bootstrap } = observed;
    return {
      isDone: bootstrap?.isComplete === true,
      keys: movementKeys(observed),
      missing,
      isHeld: isHeld(bootstrap),
    };
  }
  return throughApi(options, bootstrapRecord);
}

async function bootstrapRecord(client: KubernetesClient): Promise<ProgressLook> {
  const call = { deadlineMs: 5_000 };
  const [handoff, mirrored] = await Promise.all([
    client.find(handoffConfigMap, call),
    client.find(progressConfigMap, call),
  ]);
  const text = (mirrored?.['data'] as Record<string, string> | undefined)?.[progressKey];
  const progress = text === undefined ? undefined : parseBootstrapProgress(text);
  const isHandedOver = isHandoffComplete(handoff);
  const isEnded = text === undefined || progress?.isComplete === true;
  const missing = [
    ...(isHandedOver ? [] : [waitingFor('the masters', 'do not carry the cluster yet')]),
    ...(isEnded ? [] : [waitingFor('the bootstrap machine', 'still has work to do')]),
  ];
  const keys = [`${isHandedOver} ${bootstrapKey(progress)}`];
  return { isDone: missing.length === 0, keys, missing, isHeld: isHeld(progress) };
}

async function throughApi(
  { host, dir, signal }: WaitForOptions,
  look: (client: KubernetesClient) => Promise<ProgressLook>,
): Promise<ProgressLook> {
  try {
    await using client = await connectCluster(host, dir);
    return await look(client);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof FirstlightError)) throw error;
    return apiAway(error);
  }
}
