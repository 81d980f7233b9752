// The node agent: keeps a machine in the state that the cluster needs. All of its work is done by duties. This file
// opens the connections that the duties use, and writes their outcomes to the log, the timeline and the state file.
import { dirname } from 'node:path';
import { type AgentState, agentStateFile, StateWriter } from '../contract/agent-state.ts';
import {
  kubeletClientCertificate,
  nodeSettingsFile,
  runtimePaths,
  staticPodFolder,
} from '../contract/machine-paths.ts';
import { missingLine } from '../contract/missing.ts';
import { parseNodeEnvironment } from '../contract/node-environment.ts';
import { readNodeSettings } from '../contract/node-settings.ts';
import { openTimeline, type Timeline } from '../contract/timeline.ts';
import { controlPlaneComponents } from '../control-plane/component-holdings.ts';
import { componentFolder, pkiFolder } from '../control-plane/control-plane-paths.ts';
import { RenewingEtcdClients } from '../etcd/client.ts';
import type { Host } from '../host/host.ts';
import { randomUuid } from '../host/random.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import { ClusterView } from '../membership/cluster-view.ts';
import { Doorbell } from '../workflow/doorbell.ts';
import type { Agent, AgentNode } from './agent-context.ts';
import { connectAs, readEtcdTls } from './api-identity.ts';
import { BackgroundTasks } from './background-tasks.ts';
import { dutiesOf } from './duties.ts';
import type { DutyOutcome } from './duty.ts';
import { agentErrors } from './errors.ts';
import { type DutyReport, runDuties } from './run-duties.ts';

export interface RunAgentOptions {
  readonly signal: AbortSignal;
  /** One line per change. */
  readonly log: (line: string) => void;
  /** Opens the connection to the API. Default: with the certificate of this machine. */
  readonly connect?: (node: AgentNode) => Promise<KubernetesClient>;
}

/** Runs until the signal is aborted, and then throws its reason. */
export async function runAgent(host: Host, { signal, log, connect }: RunAgentOptions): Promise<never> {
  const settings = await readSettings(host);
  const { node, apiServerUrl } = settings;
  await host.files.makeFolder(dirname(agentStateFile), { mode: 0o755 });
  const doorbell = new Doorbell();
  const background = new BackgroundTasks(host.clock, signal, () => doorbell.ring());
  using etcd = new RenewingEtcdClients(host.clock);
  using kept = host.network.keepConnections();
  const timeline = openTimeline(host, 'agent');
  const agent: Agent = {
    ...settings,
    host,
    doorbell,
    background,
    cluster: new ClusterView(),
    signal,
    api: openOnce(() => connect?.(node) ?? connectAs(node.role, host, apiServerUrl)),
    etcd: async () => etcd.use(await readEtcdTls(host)),
    kept,
    identity: `${node.name}_${randomUuid(host.random)}`,
    log,
    timeline,
  };
  background.keep('folders', (end) =>
    watchFolders(host, { folders: watchedFolders, changed: () => doorbell.ring(), signal: end }),
  );
  const writer = new StateWriter(host.files);
  try {
    return await runDuties({
      duties: dutiesOf(node.role),
      agent,
      signal,
      onChange: ({ duty, outcome }, reports) => {
        log(`${duty}: ${outcomeText(outcome)}`);
        markDuty(timeline, duty, outcome);
        writer.put(agentState({ node, pid: host.environment.pid, now: host.clock.now(), reports }));
      },
    });
  } finally {
    await Promise.all([background.ended(), writer.idle(), timeline.idle()]);
  }
}

/** A duty waits until a file appears in one of these folders, or writes a file again that disappeared there. */
const watchedFolders = [
  staticPodFolder,
  pkiFolder,
  ...controlPlaneComponents.map((component) => componentFolder(component)),
  dirname(kubeletClientCertificate),
];

const watchRetryMs = 1_000;

interface WatchFoldersOptions {
  readonly folders: readonly string[];
  readonly changed: () => void;
  readonly signal: AbortSignal;
}

/**
 * Reports changes in folders, also in folders that do not exist yet, until the signal is aborted. A missed change does
 * no harm: every duty also runs at its own interval.
 */
async function watchFolders(host: Host, { folders, changed, signal }: WatchFoldersOptions): Promise<void> {
  const watched = new Map<string, Disposable>();
  try {
    while (watched.size < folders.length) {
      for (const folder of folders.filter((each) => !watched.has(each))) {
        if ((await host.files.facts(folder)) === undefined) continue;
        watched.set(folder, host.files.watch(folder, changed));
        changed();
      }
      await host.clock.sleep(watchRetryMs, signal);
    }
    await new Promise<void>((resolve) => {
      if (signal.aborted) return resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  } finally {
    for (const watch of watched.values()) watch[Symbol.dispose]();
  }
}

type AgentSettings = Pick<Agent, 'node' | 'apiServerUrl' | 'controlPlane' | 'machineNetworks' | 'podRoutes'>;

async function readSettings(host: Host): Promise<AgentSettings> {
  const { role, apiServerUrl, controlPlane, machineNetworks, podRoutes = controlPlane } = await readNodeSettings(host);
  const fail = (missing: string): Error => agentErrors.SETTINGS({ path: nodeSettingsFile, missing });
  if (role !== 'master' && role !== 'worker') throw fail('whether this machine is a master or a worker');
  if (apiServerUrl === undefined) throw fail('where the API is');
  if (role === 'master' && controlPlane === undefined) throw fail('what a control plane is made from');
  return { node: { role, ...(await readNode(host)) }, apiServerUrl, controlPlane, machineNetworks, podRoutes };
}

/** Name and addresses as firstlight-prepare.service found them at this boot. */
async function readNode(host: Host): Promise<Omit<AgentNode, 'role'>> {
  const { name, addresses } = parseNodeEnvironment(await host.files.readText(runtimePaths.environment));
  if (name === '' || addresses.length === 0) {
    throw agentErrors.SETTINGS({ path: runtimePaths.environment, missing: 'the name and address of this machine' });
  }
  return { name, addresses };
}

/** Keeps the first connection that opens. It stays valid, because the client reads renewed credentials by itself. */
function openOnce(open: () => Promise<KubernetesClient>): () => Promise<KubernetesClient> {
  let opened: Promise<KubernetesClient> | undefined;
  return async () => {
    opened ??= open();
    try {
      return await opened;
    } catch (error) {
      opened = undefined;
      throw error;
    }
  };
}

/** Records a duty as one step of the timeline: from its first run until it is settled for the first time. */
function markDuty(timeline: Timeline, duty: string, outcome: DutyOutcome): void {
  timeline.mark(duty, 'began');
  timeline.mark(duty, outcome.status === 'settled' ? 'done' : 'moved', {
    text: outcomeText(outcome),
    ...(outcome.status === 'acted' && outcome.key !== undefined ? { key: outcome.key } : {}),
  });
}

function outcomeText(outcome: DutyOutcome): string {
  switch (outcome.status) {
    case 'settled':
      return outcome.note === undefined ? 'settled' : `settled (${outcome.note})`;
    case 'acted':
      return outcome.did;
    case 'waiting':
      return `waiting for ${missingLine(outcome.missing)}`;
  }
}

interface StateSources {
  readonly node: AgentNode;
  readonly pid: number;
  readonly now: Date;
  readonly reports: readonly DutyReport[];
}

export function agentState({ node, pid, now, reports }: StateSources): AgentState {
  return {
    format: 1,
    node: node.name,
    role: node.role,
    pid,
    at: now.toISOString(),
    isSettled: reports.every(({ outcome }) => outcome.status === 'settled'),
    duties: reports.map(({ duty: name, outcome, since }) => {
      const note = outcome.status === 'acted' ? outcome.did : outcome.status === 'settled' ? outcome.note : undefined;
      return {
        name,
        status: outcome.status,
        since: since.toISOString(),
        missing: outcome.status === 'waiting' ? [...outcome.missing] : [],
        ...(note === undefined ? {} : { note }),
      };
    }),
  };
}
