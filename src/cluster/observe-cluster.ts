// The state of the machines of a cluster, read from outside: first boot, bootstrap and agents, each from the state file
// that it keeps inside its machine. Only files are read, because this runs several times a second while the machines
// need the processors. Nothing is changed here.

import type { z } from 'zod';
import { type AgentState, agentStateFile, agentStateSchema } from '../contract/agent-state.ts';
import { type BootstrapProgress, bootstrapProgressSchema, progressFile } from '../contract/bootstrap-progress.ts';
import {
  describeFirstBoot,
  type FirstBootStatus,
  firstBootStatusPath,
  readFirstBootStatus,
} from '../contract/first-boot-status.ts';
import type { MachineRole } from '../contract/machine-role.ts';
import type { Host } from '../host/host.ts';
import { jsonIfValid } from '../host/json-if-valid.ts';
import type { MachineFiles } from '../platform/platform.ts';
import type { ClusterHandle } from './find-cluster.ts';

export interface MachineObservation {
  readonly name: string;
  readonly role: MachineRole;
  readonly firstBoot: FirstBootStatus | undefined;
  /** The state of the first boot as text. */
  readonly firstBootText: string;
  /** Of a master or worker whose agent runs. */
  readonly agent: AgentState | undefined;
}

export interface ClusterObservation {
  readonly machines: readonly MachineObservation[];
  /** Undefined while there is no bootstrap machine, or it has not reported anything yet. */
  readonly bootstrap: BootstrapProgress | undefined;
}

export async function observeCluster(
  host: Pick<Host, 'clock'>,
  { platform, name: cluster }: ClusterHandle,
): Promise<ClusterObservation> {
  const known = await platform.listMachines(cluster);
  const machines = known.map(async ({ name, role }): Promise<MachineObservation> => {
    const files = platform.filesOf({ cluster, machine: name });
    const firstBoot = await readFirstBootStatus(files, firstBootStatusPath);
    const firstBootText = firstBoot === undefined ? 'boots' : describeFirstBoot(firstBoot, host.clock.now());
    return { name, role, firstBoot, firstBootText, agent: await readState(files, agentStateFile, agentStateSchema) };
  });
  const bootstrap = known.find(({ role }) => role === 'bootstrap');
  return {
    machines: await Promise.all(machines),
    bootstrap:
      bootstrap &&
      (await readState(platform.filesOf({ cluster, machine: bootstrap.name }), progressFile, bootstrapProgressSchema)),
  };
}

async function readState<T>(files: MachineFiles, path: string, schema: z.ZodType<T>): Promise<T | undefined> {
  const content = await files.readIfPresent(path);
  if (content === undefined) return undefined;
  const parsed = schema.safeParse(jsonIfValid(content));
  return parsed.success ? parsed.data : undefined;
}
