// The pod, the controller, the unit on the host and the power, each taken away at three phases of an attempt. Every attempt
// ends in Succeeded or in a failure that says its name, on a node that works, and no configuration is applied twice. In long
// runs only.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type InPlaceAttempt, type InPlacePhase, inPlaceFiles } from '../../../src/contract/in-place.ts';
import { isLong } from '../fire/long.ts';
import { pidOf, signal } from '../fire/machine-processes.ts';
import {
  type ConfigCluster,
  cutPower,
  eventuallySeen,
  nodeSights,
  withApi,
  workers,
} from '../machine-config/config-lab.ts';
import { eventually, inside } from '../machine-lab.ts';
import {
  attemptsOf,
  controllerOf,
  leftOnHost,
  nodeReference,
  prepare,
  start,
  untilEnded,
  untilPhase,
} from './in-place-lab.ts';

type Victim = 'pod' | 'controller' | 'host unit' | 'power';

interface KillPoint {
  readonly victim: Victim;
  readonly phase: InPlacePhase;
}

const points: readonly KillPoint[] = [
  { victim: 'pod', phase: 'Preflight' },
  { victim: 'pod', phase: 'Ready' },
  { victim: 'pod', phase: 'KubeletStopped' },
  { victim: 'controller', phase: 'Scheduled' },
  { victim: 'controller', phase: 'KubeletStopped' },
  { victim: 'controller', phase: 'Joining' },
  { victim: 'host unit', phase: 'KubeletStopped' },
  { victim: 'host unit', phase: 'Applying' },
  { victim: 'host unit', phase: 'Joining' },
  { victim: 'power', phase: 'Ready' },
  { victim: 'power', phase: 'Applying' },
  { victim: 'power', phase: 'Rebooting' },
];

export function inPlaceKillPointsTopic(cluster: ConfigCluster): void {
  const did: string[] = [];

  async function strike({ victim, phase }: KillPoint, node: string): Promise<string> {
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

  afterAll(() => {
    if (isLong) process.stdout.write(`\n${did.join('\n')}\n`);
  });

  describe.runIf(isLong).each(points)('$victim at $phase', (point) => {
    const node = workers[points.indexOf(point) % workers.length] ?? 'worker-0';
    let attempt: InPlaceAttempt;

    beforeAll(async () => {
      const attemptId = await prepare(cluster, node);
      await start(cluster, node);
      await untilPhase(cluster, { attemptId, phase: point.phase, seconds: 60 });
      const startMs = performance.now();
      did.push(`${point.victim} at ${point.phase}: ${await strike(point, node)}`);
      attempt = await untilEnded(cluster, attemptId, 180);
      const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
      const { phase, failure } = attempt.status;
      did.push(`${point.victim} at ${point.phase}: ${phase} ${failure?.code ?? ''} after ${seconds} s`);
    });

    afterAll(async () => {
      await withApi(cluster, (api) => api.mergePatch(nodeReference(node), { spec: { unschedulable: null } }));
    });

    test('ends well, or in a failure that says its name', () => {
      const { phase, failure } = attempt.status;
      if (phase === 'Succeeded') expect(failure).toBeUndefined();
      else expect(failure?.code).toMatch(/^[A-Z]\w+$/);
    });

    test('was applied once at most, and never goes back', async () => {
      const attempts = await withApi(cluster, (api) => attemptsOf(api, node));
      expect(attempts.filter(({ spec }) => spec.attemptId === attempt.spec.attemptId)).toHaveLength(1);
      const state = await inside(cluster.infraId(), node, `cat ${inPlaceFiles.state}`);
      const { history } = JSON.parse(state) as { history: readonly { phase: InPlacePhase }[] };
      expect(history.filter(({ phase }) => phase === 'Applying').length).toBeLessThanOrEqual(1);
      expect(new Set(history.map(({ phase }) => phase)).size).toBe(history.length);
    });

    test('leaves a node that works, with nothing of the attempt beside it', async () => {
      const sight = await eventuallySeen(cluster, { what: `that ${node} is Done`, seconds: 60 }, async (api) =>
        (await nodeSights(api, [node])).find(({ state, isAvailable }) => state === 'Done' && isAvailable),
      );
      expect(sight.reason).toBe('');
      expect(await leftOnHost((script) => inside(cluster.infraId(), node, script), attempt)).toContain('no unit\n');
    });
  });
}
