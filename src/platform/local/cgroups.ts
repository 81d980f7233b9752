// Removes control groups that this platform made, after it has ended the processes that are left in them.
import { dirname } from 'node:path';
import { waitingFor } from '../../contract/missing.ts';
import type { Host } from '../../host/host.ts';
import { waitUntil } from '../../workflow/wait.ts';
import type { MachinePlan } from './plan.ts';

export interface GroupContext {
  readonly host: Host;
  readonly plan: MachinePlan;
  readonly signal: AbortSignal;
}

/** Removes `group` and all below it in every hierarchy; kills processes that are still in it. */
export async function removeGroup({ host, plan, signal }: GroupContext, group: string): Promise<void> {
  if (plan.cgroup.kind === 'delegated') return;
  const paths = plan.cgroup.mounts.map((mount) => `${mount}/${group}`);
  await waitUntil({
    clock: host.clock,
    what: `the removal of control group ${group}`,
    deadlineMs: 20_000,
    everyMs: 50,
    signal,
    probe: async () => {
      const existing = await existingPaths(host, paths);
      if (existing.length === 0) return { status: 'ready', value: undefined };
      // Only folders: the files in them belong to the kernel and vanish with them.
      await host.processes.run('find', [...existing, '-depth', '-type', 'd', '-delete'], { timeoutMs: 10_000 });
      const left = await existingPaths(host, existing);
      if (left.length === 0) return { status: 'ready', value: undefined };
      const pids = await processesIn(host, left);
      for (const pid of pids) host.processes.kill(pid, 'SIGKILL');
      return {
        status: 'waiting',
        missing: [waitingFor(left[0] ?? group, `is in use by ${pids.join(', ') || 'ending processes'}`)],
      };
    },
  });
}

/** Removes groups that are empty: the cluster's, and the one above it that all clusters share. */
export async function removeEmptyGroups({ host, plan }: GroupContext, group: string): Promise<void> {
  if (plan.cgroup.kind === 'delegated') return;
  const groups = [group, dirname(group)];
  const paths = plan.cgroup.mounts.flatMap((mount) => groups.map((name) => `${mount}/${name}`));
  const existing = await existingPaths(host, paths);
  // rmdir refuses what is not empty, so the groups of another cluster stay.
  if (existing.length > 0) await host.processes.run('rmdir', existing, { timeoutMs: 10_000 });
}

async function existingPaths(host: Host, paths: readonly string[]): Promise<readonly string[]> {
  const facts = await Promise.all(paths.map((path) => host.files.facts(path)));
  return paths.filter((_, index) => facts[index] !== undefined);
}

async function processesIn(host: Host, folders: readonly string[]): Promise<readonly number[]> {
  const args = [...folders, '-name', 'cgroup.procs', '-exec', 'cat', '{}', '+'];
  const { stdout } = await host.processes.run('find', args, { timeoutMs: 10_000 });
  return [...new Set(stdout.split('\n').filter((line) => /^[1-9]\d*$/.test(line)))].map(Number);
}
