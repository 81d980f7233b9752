// The pod, the controller, the unit on the host and the power, each taken away in the middle of an attempt, so that every phase
// of the Ignition route has its turn. Each attempt brings another configuration, and ends in Succeeded with all of it, or in a
// failure that says its name with nothing of it, on a node that works. In long runs only.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type InPlaceAttempt, type InPlacePhase, inPlaceFiles } from '../../../src/contract/in-place.ts';
import { isLong } from '../fire/long.ts';
import { pidOf, signal } from '../fire/machine-processes.ts';
import {
  type ConfigCluster,
  cutPower,
  eventuallySeen,
  liveFolder,
  nodeSights,
  removeMachineConfigs,
  rollOut,
  withApi,
  workers,
} from '../machine-config/config-lab.ts';
import { eventually, inside } from '../machine-lab.ts';
import {
  attemptsOf,
  controllerOf,
  inPlaceConfig,
  leftOnHost,
  nodeReference,
  prepare,
  setPaused,
  start,
  targetInPlace,
  untilEnded,
  untilPhase,
} from './in-place-lab.ts';

export interface KillPoint {
  readonly victim: 'pod' | 'controller' | 'host unit' | 'power';
  readonly phase: InPlacePhase;
}

const points: readonly KillPoint[] = [
  { victim: 'pod', phase: 'Preflight' },
  { victim: 'pod', phase: 'Ready' },
  { victim: 'pod', phase: 'KubeletStopped' },
  { victim: 'controller', phase: 'Scheduled' },
  { victim: 'controller', phase: 'KubeletStopped' },
  { victim: 'controller', phase: 'Joining' },
  { victim: 'controller', phase: 'Restoring' },
  { victim: 'host unit', phase: 'KubeletStopped' },
  { victim: 'host unit', phase: 'LabelCleared' },
  { victim: 'host unit', phase: 'Applying' },
  { victim: 'host unit', phase: 'Joining' },
  { victim: 'power', phase: 'Ready' },
  { victim: 'power', phase: 'Applying' },
  { victim: 'power', phase: 'Rebooting' },
  { victim: 'power', phase: 'Booted' },
];

/** Files that every configuration of a point has, each with the word of the point. */
const paths = Array.from({ length: 10 }, (_, index) => `${liveFolder}/kill-${index}`);

export function inPlaceKillPointsTopic(cluster: ConfigCluster): void {
  afterAll(async () => {
    if (!isLong) return;
    await setPaused(cluster, false);
    await rollOut(cluster, { seconds: 180 }, () => removeMachineConfigs(cluster, inPlaceConfig('kills').name));
  });

  killPointTests(cluster, points, {
    nodeOf: (index) => workers[index % workers.length] ?? 'worker-0',
    secretOptions: [],
    seconds: 180,
  });
}

export interface KillPointOptions {
  readonly nodeOf: (index: number) => string;
  /** More of `ipb prepare`. */
  readonly secretOptions: readonly string[];
  /** From the kill to the end of the attempt. */
  readonly seconds: number;
}

export function killPointTests(
  cluster: ConfigCluster,
  kills: readonly KillPoint[],
  { nodeOf, secretOptions, seconds }: KillPointOptions,
): void {
  const did: string[] = [];

  afterAll(() => {
    if (isLong) process.stdout.write(`\n${did.join('\n')}\n`);
  });

  describe.runIf(isLong).each(kills)('$victim at $phase', (point) => {
    const node = nodeOf(kills.indexOf(point));
    const word = `${point.victim.replace(' ', '-')}-${point.phase}`;
    const on = (script: string): Promise<string> => inside(cluster.infraId(), node, script);
    const bootsOf = async (): Promise<number> => Number(await on('journalctl --list-boots --no-pager -q | wc -l'));
    let attempt: InPlaceAttempt;
    let bootsBefore: number;

    beforeAll(async () => {
      await targetInPlace(cluster, word, ...paths.map((path) => ({ path, text: `${word}\n` })));
      bootsBefore = await bootsOf();
      const attemptId = await prepare(cluster, node, ...secretOptions);
      await start(cluster, node);
      await untilPhase(cluster, { attemptId, phase: point.phase, seconds: 120 });
      const startMs = performance.now();
      did.push(`${point.victim} at ${point.phase}: ${await strike(cluster, point, node)}`);
      attempt = await untilEnded(cluster, attemptId, seconds);
      const tookMs = performance.now() - startMs;
      const { phase, failure } = attempt.status;
      const end = `${phase} ${failure?.code ?? ''}`.trim();
      did.push(`${point.victim} at ${point.phase}: ${end} after ${(tookMs / 1000).toFixed(1)} s`);
      // A node whose attempt failed stays cordoned: a person looks at it first.
      await withApi(cluster, (api) => api.mergePatch(nodeReference(node), { spec: { unschedulable: null } }));
    });

    test('ends well, or in a failure that says its name', () => {
      const { phase, failure } = attempt.status;
      if (phase === 'Succeeded') expect(failure).toBeUndefined();
      else expect(failure?.code).toMatch(/^[A-Z]\w+$/);
    });

    test('leaves the whole configuration, or nothing of it', async () => {
      const count = await on(`cat ${paths.join(' ')} 2>/dev/null | grep -c '^${word}$' || true`);
      expect(Number(count)).toBe(attempt.status.phase === 'Succeeded' ? paths.length : 0);
    });

    test('was applied once at most: one attempt, no phase twice, no reboot too many', async () => {
      const attempts = await withApi(cluster, (api) => attemptsOf(api, node));
      expect(attempts.filter(({ spec }) => spec.attemptId === attempt.spec.attemptId)).toHaveLength(1);
      const { history } = JSON.parse(await on(`cat ${inPlaceFiles.state}`)) as {
        readonly history: readonly { readonly phase: InPlacePhase }[];
      };
      expect(new Set(history.map(({ phase }) => phase)).size).toBe(history.length);
      const boots = (await bootsOf()) - bootsBefore;
      expect(boots).toBeLessThanOrEqual(point.victim === 'power' ? 2 : 1);
      if (attempt.status.phase === 'Succeeded') expect(boots).toBeGreaterThanOrEqual(1);
    });

    test('leaves a node that works, with nothing of the attempt beside it', async () => {
      const sight = await eventuallySeen(cluster, { what: `that ${node} is Done`, seconds: 60 }, async (api) =>
        (await nodeSights(api, [node])).find(({ state, isAvailable }) => state === 'Done' && isAvailable),
      );
      expect(sight.reason).toBe('');
      expect(await leftOnHost(on, attempt)).toContain('no unit\n');
    });
  });
}

async function strike(cluster: ConfigCluster, { victim, phase }: KillPoint, node: string): Promise<string> {
  if (victim === 'power') {
    await cutPower(cluster, node);
    return `cut the power of ${node}`;
  }
  const where = victim === 'controller' ? await controllerOf(cluster) : node;
  const unit = phase === 'Joining' ? 'ipb finish' : 'ipb run';
  const program = ({ pod: 'ipb pod', controller: 'agent', 'host unit': unit } as const)[victim];
  const pid = await eventually(`${program} on ${where}`, 20, async () => pidOf(cluster.infraId(), where, program));
  signal(pid, 'SIGKILL');
  return `killed ${program} on ${where}`;
}
