// What is going on in the machines of a cluster on this host, read from outside: their first boot, the bootstrap and
// the agents, each by the file that it keeps up to date inside. Files only, because this is looked at several times a
// second while the machines need the processors themselves. Nothing here changes anything.
import type { z } from 'zod';
import type { Host } from '../host/host.ts';
import { type AgentState, agentStateFile, agentStateSchema } from '../contract/agent-state.ts';
import {
  describeFirstBoot,
  type FirstBootStatus,
  firstBootStatusPath,
  readFirstBootStatus,
} from '../contract/first-boot-status.ts';
import type { MachineRole } from '../contract/machine-role.ts';
import { type BootstrapProgress, bootstrapProgressSchema, progressFile } from '../contract/bootstrap-progress.ts';
import type { MachineFiles } from '../platform/platform.ts';
import type { ClusterHandle } from './find-cluster.ts';

export interface MachineSight {
  readonly name: string;
  readonly role: MachineRole;
  readonly firstBoot: FirstBootStatus | undefined;
  /** The first boot in words. */
  readonly story: string;
  /** Of a master or worker whose agent runs. */
  readonly agent: AgentState | undefined;
}

export interface ClusterSight {
  readonly machines: readonly MachineSight[];
  /** Undefined while there is no bootstrap machine, or it has not said anything yet. */
  readonly bootstrap: BootstrapProgress | undefined;
}

export async function observeCluster(
  host: Pick<Host, 'clock'>,
  { platform, name: cluster }: ClusterHandle,
): Promise<ClusterSight> {
  const known = await platform.listMachines(cluster);
  const machines = known.map(async ({ name, role }): Promise<MachineSight> => {
    const files = platform.filesOf({ cluster, machine: name });
    const firstBoot = await readFirstBootStatus(files, firstBootStatusPath);
    const story = firstBoot === undefined ? 'boots' : describeFirstBoot(firstBoot, host.clock.now());
    return { name, role, firstBoot, story, agent: await readState(files, agentStateFile, agentStateSchema) };
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
  const parsed = schema.safeParse(parseJson(Buffer.from(content).toString('utf8')));
  return parsed.success ? parsed.data : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
