// What is going on in the machines of a cluster on this host, read from outside: their first boot, the bootstrap and the
// agents, each by the file that it keeps up to date inside. Files only, because this is looked at several times a second
// while the machines need the processors themselves. Nothing here changes anything.
import { join } from 'node:path';
import type { z } from 'zod';
import type { Host } from '../host/host.ts';
import { type AgentState, agentStateSchema, agentStateFile } from '../contract/agent-state.ts';
import { describeFirstBoot, type FirstBootStatus } from '../contract/first-boot-status.ts';
import { machinePaths } from '../platform/local/cluster-folder.ts';
import { readMachines } from '../platform/local/machine-folder.ts';
import { readFirstBoot } from '../platform/local/observed-machine.ts';
import type { MachineRole } from '../contract/machine-role.ts';
import { type BootstrapProgress, bootstrapProgressSchema, progressFile } from '../contract/bootstrap-progress.ts';

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

export async function observeCluster(host: Host, cluster: string): Promise<ClusterSight> {
  const known = await readMachines(host, cluster);
  const machines = known.map(async ({ name, role }): Promise<MachineSight> => {
    const firstBoot = await readFirstBoot(host, cluster, name);
    const story = firstBoot === undefined ? 'boots' : describeFirstBoot(firstBoot, host.clock.now());
    const agent = await readInside(host, { cluster, machine: name, file: agentStateFile, schema: agentStateSchema });
    return { name, role, firstBoot, story, agent };
  });
  const bootstrap = known.find(({ role }) => role === 'bootstrap');
  return {
    machines: await Promise.all(machines),
    bootstrap:
      bootstrap &&
      (await readInside(host, {
        cluster,
        machine: bootstrap.name,
        file: progressFile,
        schema: bootstrapProgressSchema,
      })),
  };
}

interface InsideFile<T> {
  readonly cluster: string;
  readonly machine: string;
  readonly file: string;
  readonly schema: z.ZodType<T>;
}

/** A state file of a machine, from the layer that holds the machine's own changes. */
async function readInside<T>(host: Host, { cluster, machine, file, schema }: InsideFile<T>): Promise<T | undefined> {
  const path = join(machinePaths(cluster, machine).upper, file);
  const content = await host.files.readIfPresent(path);
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
