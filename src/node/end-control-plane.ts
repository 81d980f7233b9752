// The end of a master's control plane before its machine goes down, in this order: the API server and who works through
// it, the leadership of etcd, etcd. The kubelet has ended before (firstlight-control-plane.service is ordered so), and
// the agent may have. What fails is logged and keeps nothing from its turn: the machine goes down in any case. Every
// wait has a limit, and all of them together are less than the unit may take.
import { etcdPorts, httpsUrl } from '../contract/ports.ts';
import { apiserverShutdownDelaySeconds } from '../control-plane/apiserver-pod.ts';
import { runningContainers, stopContainer } from '../control-plane/component-containers.ts';
import { type ControlPlaneComponent, controlPlaneComponents } from '../control-plane/component-holdings.ts';
import { type EtcdClients, etcdClients } from '../etcd/client.ts';
import type { Host } from '../host/host.ts';
import { passLeadership } from '../membership/pass-leadership.ts';
import { readEtcdTls } from './api-identity.ts';

export interface EndControlPlaneOptions {
  readonly signal: AbortSignal;
  /** One line per thing that was done or went wrong. */
  readonly log: (line: string) => void;
  /** Opens the connections to etcd. Default: with the certificate of this machine. */
  readonly openEtcd?: () => Promise<EtcdClients>;
}

const lookMs = 3_000;
/** After its delay an API server ends the requests that it has, and closes connections for two seconds at most. */
const apiGraceSeconds = apiserverShutdownDelaySeconds + 10;
/** etcd ends in less than a second. What it has acknowledged is on its disk, so a kill loses nothing. */
const etcdGraceSeconds = 4;
/** For containerd to kill the container and to answer. */
const killMs = 1_000;

export async function endControlPlane(host: Host, options: EndControlPlaneOptions): Promise<void> {
  const found = await Promise.all(
    controlPlaneComponents.map(async (component) => ({ component, ids: await look(host, component, options) })),
  );
  const clientsOfEtcd = found.filter(({ component }) => component !== 'etcd');
  await Promise.all(clientsOfEtcd.map((each) => stop(host, { ...each, graceSeconds: apiGraceSeconds }, options)));
  const etcd = found.filter(({ component }) => component === 'etcd');
  // Where containerd does not say whether etcd runs, it may lead all the same.
  if (etcd.every(({ ids }) => ids?.length === 0)) return;
  await giveUpLeadership(host, options);
  await Promise.all(etcd.map((each) => stop(host, { ...each, graceSeconds: etcdGraceSeconds }, options)));
}

/** Undefined where nobody could say it. */
function look(
  host: Host,
  component: ControlPlaneComponent,
  options: EndControlPlaneOptions,
): Promise<readonly string[] | undefined> {
  const { signal } = options;
  return attempt(options, `${component} cannot be stopped`, () =>
    runningContainers(host, component, { limitMs: lookMs, signal }),
  );
}

interface StopComponent {
  readonly component: ControlPlaneComponent;
  readonly ids: readonly string[] | undefined;
  readonly graceSeconds: number;
}

async function stop(
  host: Host,
  { component, ids = [], graceSeconds }: StopComponent,
  options: EndControlPlaneOptions,
): Promise<void> {
  const { signal, log } = options;
  const { clock } = host;
  const beganMs = clock.monotonicMs();
  const limitMs = graceSeconds * 1000 + killMs;
  const stopOne = (id: string) =>
    attempt(options, `${component} was not stopped`, async () => {
      await stopContainer(host, id, { graceSeconds, limitMs, signal });
      log(`${component} has ended, after ${((clock.monotonicMs() - beganMs) / 1000).toFixed(1)} s`);
    });
  await Promise.all(ids.map(stopOne));
}

async function giveUpLeadership(host: Host, options: EndControlPlaneOptions): Promise<void> {
  const { signal, log, openEtcd = async () => etcdClients(await readEtcdTls(host), host.clock) } = options;
  const failed = 'the leadership of etcd was not passed on';
  await attempt(options, failed, async () => {
    using clients = await openEtcd();
    const url = httpsUrl('127.0.0.1', etcdPorts.client);
    const passed = await passLeadership({ clients, clock: host.clock, url, signal });
    if (passed.status === 'passed') log(`${passed.to} leads etcd now`);
    if (passed.status === 'not-passed') log(`${failed}: ${passed.reason}`);
  });
}

/** Any failure becomes a line of the log, because a step that fails must not keep the next one from its turn. */
async function attempt<T>(
  { signal, log }: EndControlPlaneOptions,
  failed: string,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    log(`${failed}: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}
