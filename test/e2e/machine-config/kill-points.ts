// The daemon, the controller and a whole machine are killed in the middle of roll-outs, each at ten points that are drawn from
// a seed; every roll-out comes to the same end. FIRSTLIGHT_FIRE_SEED chooses another draw. In long runs only.
import { afterAll, describe, expect, test } from 'vitest';
import { rolloutLease, systemNamespace } from '../../../src/contract/cluster-objects.ts';
import { chance } from '../fire/kill-plan.ts';
import { isLong } from '../fire/long.ts';
import { pidOf, signal } from '../fire/machine-processes.ts';
import { eventually, inside } from '../machine-lab.ts';
import {
  applyMachineConfig,
  type ConfigCluster,
  cutPower,
  goodEnd,
  liveFolder,
  nodeSights,
  pause,
  poolSight,
  removeMachineConfigs,
  rollOut,
  withApi,
  workers,
} from './config-lab.ts';

const firstSeed = Number(process.env['FIRSTLIGHT_FIRE_SEED'] ?? 1);
const pointsPerVictim = 10;
const name = '90-proof-kills';
/** Within a roll-out with reboots, and within one without. */
const spanMs = { reboot: 20_000, live: 4_000 } as const;

type Victim = 'daemon' | 'controller' | 'machine';

interface Point {
  readonly number: number;
  readonly victim: Victim;
  readonly machine: string;
  readonly kind: keyof typeof spanMs;
  readonly delayMs: number;
}

function plan(victim: Victim): readonly Point[] {
  const next = chance(firstSeed * 100 + victim.length);
  return Array.from({ length: pointsPerVictim }, (_, index) => {
    const kind = next() < 0.6 ? 'reboot' : 'live';
    const machine = workers[Math.floor(next() * workers.length)] ?? 'worker-0';
    return { number: index + 1, victim, machine, kind, delayMs: Math.round(next() * spanMs[kind]) };
  });
}

/** The text differs each time, so that there is always something to roll out. */
function change(kind: Point['kind'], word: string) {
  const folder = kind === 'live' ? liveFolder : '/etc/proof/kills';
  const files = Array.from({ length: 10 }, (_, index) => ({ path: `${folder}/kill-${index}`, text: `${word}\n` }));
  const contents = `[Service]\nEnvironment=WORD=${word}\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n`;
  return { name, files, units: [{ name: 'proof-tick.service', enabled: true, contents }] };
}

export function killPointsTopic(cluster: ConfigCluster): void {
  const did: string[] = [];

  async function strike({ victim, machine }: Point): Promise<string> {
    if (victim === 'machine') {
      await cutPower(cluster, machine);
      return `cut the power of ${machine}`;
    }
    const where = victim === 'daemon' ? machine : await controllerOf(cluster);
    // While the machine boots there is nobody to kill: the next one that comes is killed.
    const pid = await eventually(`an agent on ${where}`, 30, async () => pidOf(cluster.infraId(), where, 'agent'));
    signal(pid, 'SIGKILL');
    return `killed the agent on ${where}`;
  }

  afterAll(async () => {
    if (!isLong) return;
    process.stdout.write(`\n${did.join('\n')}\n`);
    await rollOut(cluster, { seconds: 180 }, () => removeMachineConfigs(cluster, name));
  });

  describe.runIf(isLong).each(['daemon', 'controller', 'machine'] as const)('of the %s', (victim) => {
    test.each(plan(victim))('$number: after $delayMs ms of a $kind roll-out, $machine', async (point) => {
      const word = `${victim}-${point.number}`;
      const seconds = await rollOut(cluster, { seconds: 240 }, async () => {
        await applyMachineConfig(cluster, change(point.kind, word));
        await pause(point.delayMs);
        did.push(`${word} + ${point.delayMs} ms, ${point.kind}: ${await strike(point)}`);
      });
      did.push(`${word}: rolled out after ${seconds.toFixed(1)} s`);
      await expectGoodEnd(cluster, point, word);
    });
  });
}

async function expectGoodEnd(cluster: ConfigCluster, { kind }: Point, word: string): Promise<void> {
  const { target, nodes } = await withApi(cluster, async (api) => ({
    target: (await poolSight(api, 'worker')).target,
    nodes: await nodeSights(api, workers),
  }));
  expect(nodes).toMatchObject(workers.map((worker) => ({ name: worker, ...goodEnd(target) })));
  const [folder, other] = kind === 'live' ? [liveFolder, '/etc/proof/kills'] : ['/etc/proof/kills', liveFolder];
  const look = [
    `cat ${folder}/kill-* | sort | uniq -c | tr -s ' '`,
    `ls -A ${folder} | grep -v '^kill-' | wc -l`,
    `ls ${other}/kill-* 2>/dev/null | wc -l`,
    'systemctl show proof-tick --property=Environment --value',
  ].join('; ');
  for (const worker of workers) {
    expect(await inside(cluster.infraId(), worker, look)).toBe(` 10 ${word}\n0\n0\nWORD=${word}\n`);
  }
}

/** The master whose agent holds the Lease of the controller. */
async function controllerOf(cluster: ConfigCluster): Promise<string> {
  return withApi(cluster, async (api) => {
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace: systemNamespace };
    const { spec } = await api.get({ ...lease, name: rolloutLease });
    const holder = (spec as { holderIdentity?: string }).holderIdentity ?? '';
    return /^(master-\d+)/.exec(holder)?.[1] ?? 'master-0';
  });
}
