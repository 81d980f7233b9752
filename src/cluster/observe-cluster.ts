// What is going on in a cluster on this host, read from outside: each machine by its platform, the bootstrap and the
// agents by the files they keep up to date inside. Nothing here changes anything.
import { join } from 'node:path';
import { z } from 'zod';
import type { Host } from '../host/host.ts';
import { machinePaths } from '../platform/local/cluster-folder.ts';
import { listMachines } from '../platform/local/local-platform.ts';
import type { ObservedMachine } from '../platform/local/observed-machine.ts';

const progressSchema = z.looseObject({
  stage: z.string(),
  state: z.string(),
  at: z.string(),
  missing: z.array(z.string()).default([]),
  isComplete: z.boolean().default(false),
});
export type BootstrapProgress = z.output<typeof progressSchema>;

const agentSchema = z.looseObject({ waiting: z.record(z.string(), z.array(z.string())).default({}) });
export type AgentState = z.output<typeof agentSchema>;

export interface ClusterView {
  readonly machines: readonly ObservedMachine[];
  readonly bootstrap: BootstrapProgress | undefined;
  readonly agents: Readonly<Record<string, AgentState | undefined>>;
}

export async function observeCluster(host: Host, cluster: string): Promise<ClusterView> {
  const machines = await listMachines(host, cluster);
  const agents = machines
    .filter(({ role }) => role !== 'bootstrap')
    .map(
      async ({ name }) =>
        [name, await readInside(host, { cluster, machine: name, file: 'agent.json', schema: agentSchema })] as const,
    );
  return {
    machines,
    bootstrap: await readInside(host, { cluster, machine: 'bootstrap', file: 'progress.json', schema: progressSchema }),
    agents: Object.fromEntries(await Promise.all(agents)),
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
  const path = join(machinePaths(cluster, machine).upper, 'var/lib/firstlight', file);
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
