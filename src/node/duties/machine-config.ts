// The configuration of this machine: the rendered config that the Node names is brought to the machine, step by step,
// and the Node says how far it is. What comes next is decided in config-daemon/next-daemon-step.ts; this file observes
// and talks to the API. A change that has begun ends also while the API and the kubelet are down.
// Modules that only a change needs are loaded when there is one: most of the time this duty has nothing to do.
import { adoptServedConfig, keepSeedsAside, seedAnnotations } from '../../config-daemon/adopt-served-config.ts';
import {
  type DaemonStep,
  type DaemonView,
  type MachineStep,
  nextDaemonStep,
} from '../../config-daemon/next-daemon-step.ts';
import { nodeReport } from '../../config-daemon/node-report.ts';
import { machineConfigGroup, machineConfigurationObject } from '../../contract/machine-config-node.ts';
import { waitingFor } from '../../contract/missing.ts';
import { FirstlightError, isError } from '../../errors/firstlight-error.ts';
import { kubernetesErrors } from '../../kubernetes/errors.ts';
import { isReadyNode } from '../../kubernetes/node-object.ts';
import type { KubernetesObject } from '../../kubernetes/object.ts';
import type { Agent } from '../agent-context.ts';
import { ConfigDaemonMemory } from '../config-daemon-memory.ts';
import { acted, type Duty, type DutyOutcome, settled, waiting } from '../duty.ts';

export const machineConfigDuty: Duty = {
  name: 'machine-config',
  roles: ['master', 'worker'],
  // None: after a restart of the agent a change must end while no API answers.
  needs: [],
  tickMs: 200,
  run: async (agent) => {
    const memory = memoryOf(agent);
    if (await adoptServedConfig(agent.host)) return acted('took over the config that was served');
    await memory.start();
    const view = await memory.observe();
    if (view === undefined) return settled('this machine was made without a MachineConfig');
    const isNode = memory.node !== undefined && isReadyNode(memory.node);
    // Until it is a node, and while nothing is under way, there is nothing to compare and nobody to tell.
    if (view.state.change === undefined && !memory.hasBeenNode && !isNode) {
      return waiting(waitingFor(agent.node.name, 'to be a Ready node'));
    }
    memory.hasBeenNode = true;
    await report(agent, memory, view);
    return performStep(agent, memory, { step: nextDaemonStep(view), view });
  },
};

const memories = new WeakMap<Agent, ConfigDaemonMemory>();

function memoryOf(agent: Agent): ConfigDaemonMemory {
  const found = memories.get(agent) ?? new ConfigDaemonMemory(agent);
  memories.set(agent, found);
  return found;
}

const reportLimitMs = 3_000;

/** A report that fails is made good at a later run: nothing on the machine waits for it. */
async function report(agent: Agent, memory: ConfigDaemonMemory, view: DaemonView): Promise<void> {
  const { host, node, signal } = agent;
  const annotations = memory.node?.metadata.annotations;
  if (memory.node === undefined || !memory.mayAskApi()) return;
  const seeds = await seedAnnotations(host, { present: annotations ?? {}, current: view.current });
  const said = nodeReport({ ...view, annotations: annotations ?? {}, waitsFor: memory.waitsFor });
  const patch = { ...seeds, ...said };
  if (Object.keys(patch).length > 0) {
    try {
      const client = await agent.api();
      const reference = { apiVersion: 'v1', kind: 'Node', name: node.name } as const;
      const options = { signal, deadlineMs: reportLimitMs };
      memory.reported(await client.mergePatch(reference, { metadata: { annotations: patch } }, options));
    } catch (error) {
      if (!(error instanceof FirstlightError)) throw error;
      return memory.apiFailed(error.message);
    }
  }
  await keepSeedsAside(host);
}

interface Performing<Step = DaemonStep> {
  readonly step: Step;
  readonly view: DaemonView;
}

async function performStep(agent: Agent, memory: ConfigDaemonMemory, { step, view }: Performing): Promise<DutyOutcome> {
  switch (step.kind) {
    case 'rest':
      return restOutcome(memory, view);
    case 'retry-later':
      return waiting(
        waitingFor('the next attempt', `at ${step.at.toISOString()}`, { detail: view.state.failure?.reason ?? '' }),
      );
    case 'await-drain':
      return waiting(waitingFor('the controller', `to drain ${agent.node.name} for ${step.change.to}`));
    case 'await-own-restart':
      return waiting(waitingFor('systemd', 'to restart this agent'));
    case 'find-drift':
      return findDriftOutcome(memory, view);
    case 'prepare':
      return prepare(agent, memory, { to: step.to, isForced: step.isForced, view });
    case 'reboot':
      if (!memory.mayAskForReboot()) return waiting(waitingFor('the machine', 'to reboot'));
      return onMachine(agent, memory, { step, view });
    case 'rewrite':
      return memory.mayRewrite() ? onMachine(agent, memory, { step, view }) : restOutcome(memory, view);
    case 'forget-failure':
    case 'abandon':
    case 'apply':
    case 'undo':
    case 'act':
    case 'begin-verifying':
    case 'verify':
      return onMachine(agent, memory, { step, view });
  }
}

function restOutcome(memory: ConfigDaemonMemory, view: DaemonView): DutyOutcome {
  const [drift] = view.drift ?? [];
  if (drift !== undefined) return settled(`drifted: ${drift}`);
  const { failure } = view.state;
  if (failure !== undefined) return settled(`${failure.state}: ${failure.reason}`);
  if (memory.apiTrouble === undefined) return settled(view.current);
  return waiting(waitingFor('the API', 'to take the report of this machine', { detail: memory.apiTrouble }));
}

async function findDriftOutcome(memory: ConfigDaemonMemory, view: DaemonView): Promise<DutyOutcome> {
  const drift = await memory.findDrift();
  const [first] = drift;
  return acted(first === undefined ? `found the machine as ${view.current} wants it` : `found drift: ${first}`);
}

const machineConfigKind = { apiVersion: `${machineConfigGroup}/v1`, kind: 'MachineConfig' } as const;

interface Preparing {
  readonly to: string;
  readonly isForced: boolean;
  readonly view: DaemonView;
}

/** Fetches and judges the config; the machine must be as its config wants it, unless a person forces the change. */
async function prepare(agent: Agent, memory: ConfigDaemonMemory, preparing: Preparing): Promise<DutyOutcome> {
  const { host } = agent;
  const { to, isForced, view } = preparing;
  if (!memory.mayAskApi()) return waiting(waitingFor('the API', `to give ${to}`, { detail: memory.apiTrouble ?? '' }));
  const asked = await fetchConfig(agent, to);
  if (asked instanceof FirstlightError) {
    memory.apiFailed(asked.message);
    return waiting(waitingFor('the API', `to give ${to}`, { detail: asked.message }));
  }
  const { object, policies } = asked;
  if (!isForced && (await memory.findDrift()).length > 0) return acted(`refuses ${to}: the machine has drifted`);
  const steps = await import('../../config-daemon/perform-step.ts');
  const context = { host, ...view };
  if (object === undefined) {
    await steps.recordTrouble(context, to, `there is no MachineConfig ${to} in the API`);
    return acted(`did not find ${to}`);
  }
  const [{ appliedConfigOf }, { disruptionPolicies }] = await Promise.all([
    import('../../config-daemon/applied-config.ts'),
    import('../../machine-config/disruption-policies.ts'),
  ]);
  try {
    const input = {
      to: appliedConfigOf(object, `MachineConfig ${to}`),
      policies: disruptionPolicies(policies),
      isForced,
    };
    return outcomeOf(memory, await steps.recordChange(context, input));
  } catch (error) {
    if (!(error instanceof FirstlightError)) throw error;
    await steps.recordTrouble(context, to, error.message);
    return acted(`cannot take ${to}: ${error.message}`);
  }
}

interface FetchedConfig {
  /** Undefined where there is no such MachineConfig. */
  readonly object: KubernetesObject | undefined;
  /** The choices of users about disruptions. */
  readonly policies: KubernetesObject | undefined;
}

async function fetchConfig({ api, signal }: Agent, name: string): Promise<FetchedConfig | FirstlightError> {
  try {
    const client = await api();
    const [object, policies] = await Promise.all([
      client.find({ ...machineConfigKind, name }, { signal }),
      client.find(machineConfigurationObject, { signal }).catch(absentKind),
    ]);
    return { object, policies };
  } catch (error) {
    if (error instanceof FirstlightError) return error;
    throw error;
  }
}

/** A cluster without the definition has no choices of users. */
function absentKind(error: unknown): undefined {
  if (isError(error, kubernetesErrors.NO_SUCH_KIND)) return undefined;
  throw error;
}

async function onMachine(
  { host }: Agent,
  memory: ConfigDaemonMemory,
  { step, view }: Performing<MachineStep>,
): Promise<DutyOutcome> {
  const { performMachineStep } = await import('../../config-daemon/perform-step.ts');
  memory.forgetDisk();
  return outcomeOf(memory, await performMachineStep({ host, ...view }, step));
}

function outcomeOf(
  memory: ConfigDaemonMemory,
  result: { readonly did: string } | { readonly waitsFor: string },
): DutyOutcome {
  if ('did' in result) {
    memory.waitsFor = undefined;
    return acted(result.did);
  }
  memory.waitsFor = result.waitsFor;
  return waiting(waitingFor(result.waitsFor));
}
