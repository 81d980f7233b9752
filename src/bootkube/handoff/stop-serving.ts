// This machine stops serving: its scheduler and controller manager end, then its API server. The load balancer notices
// that and uses the masters. etcd ends later (leave-etcd), because the API server must not run without its etcd.
import { handoffMark } from '../../contract/bootstrap-paths.ts';
import { systemNamespace } from '../../contract/cluster-objects.ts';
import { waitingFor } from '../../contract/missing.ts';
import { apiPort, controllerManagerPort, schedulerPort } from '../../contract/ports.ts';
import { working } from '../../contract/stage-progress.ts';
import { podFile } from '../../control-plane/control-plane-paths.ts';
import { FirstlightError, isError } from '../../errors/firstlight-error.ts';
import { hostErrors } from '../../host/errors.ts';
import type { Host } from '../../host/host.ts';
import { type Lease, leaseReference } from '../../kubernetes/lease-object.ts';
import type { Stage } from '../../workflow/stage.ts';
import { waitUntil } from '../../workflow/wait.ts';
import { clientFor } from '../api-clients.ts';
import type { BootkubeContext } from '../context.ts';
import { servingMasterUrl } from './control-planes.ts';

const minuteMs = 60_000;
/** In the order in which they are stopped. The API server is last, because the others send requests to it. */
const served = [
  { component: 'kube-scheduler', port: schedulerPort, isElected: true },
  { component: 'kube-controller-manager', port: controllerManagerPort, isElected: true },
  { component: 'kube-apiserver', port: apiPort, isElected: false },
] as const;

export const stopServing: Stage<BootkubeContext> = {
  name: 'stop-serving',
  why: 'Stops scheduler, controller manager and API server of this machine: the masters serve.',
  observe: async ({ host }) => {
    const isMarked = (await host.files.facts(handoffMark)) !== undefined;
    const isThere = (await host.files.facts(podFile('kube-apiserver'))) !== undefined;
    // A run that was killed while it waited for the end of the pods must wait for it again.
    const isOver = isMarked && !isThere && (await haveAllEnded(host));
    return isOver ? { status: 'done' } : { status: 'needed', because: 'this machine still serves' };
  },
  run: async (context, tools) => {
    const { host } = context;
    await host.files.write(handoffMark, `${host.clock.now().toISOString()}\n`);
    for (const { component } of served) {
      tools.report(working(`Tearing down ${component}-bootstrap...`));
      await host.files.remove(podFile(component));
    }
    await Promise.all(
      served.map(async ({ component, port, isElected }) => {
        await awaitEnd(host, { component, port }, tools.signal);
        if (isElected) await giveLeaseBack(context, component, tools.signal);
      }),
    );
    return { note: 'the masters serve alone' };
  },
};

async function awaitEnd(
  host: Host,
  { component, port }: { readonly component: string; readonly port: number },
  signal: AbortSignal,
): Promise<void> {
  await waitUntil({
    clock: host.clock,
    what: `the end of ${component} on this machine`,
    deadlineMs: 2 * minuteMs,
    everyMs: 100,
    signal,
    probe: async () =>
      (await hasEnded(host, port))
        ? { status: 'ready', value: true }
        : { status: 'waiting', missing: [waitingFor(component, 'still listens')] },
  });
}

async function haveAllEnded(host: Pick<Host, 'network'>): Promise<boolean> {
  return (await Promise.all(served.map(({ port }) => hasEnded(host, port)))).every(Boolean);
}

/** Only a refused connection shows that nothing listens; a connection that hangs does not. */
async function hasEnded({ network }: Pick<Host, 'network'>, port: number): Promise<boolean> {
  try {
    await network.probe('127.0.0.1', port, 1_000);
    return false;
  } catch (error) {
    if (!isError(error, hostErrors.NETWORK)) throw error;
    return error.details.failure === 'refused';
  }
}

/**
 * Scheduler and controller manager do not release their Lease when they end, so their successor on a master would wait
 * fifteen seconds until the Lease expires. The Lease is released only if the component of this machine still holds it.
 * If the release fails, the successor waits.
 */
async function giveLeaseBack(context: BootkubeContext, component: string, signal: AbortSignal): Promise<void> {
  try {
    await using client = await clientFor(context, await servingMasterUrl(context));
    const reference = leaseReference(systemNamespace, component);
    const lease = await client.find<Lease>(reference, { signal });
    if (lease?.spec.holderIdentity?.startsWith(`${context.machine.name}_`) !== true) return;
    const spec = { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1 };
    await client.replace({ ...lease, spec }, { signal });
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof FirstlightError)) throw error;
    context.emit({
      kind: 'notice',
      level: 'warn',
      text: `the Lease of ${component} runs out by itself: ${error.message}`,
    });
  }
}
