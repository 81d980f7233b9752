// Route two on a real machine: a payload of bash and ansible, from a signed apt repository inside the cluster's network.
// Scenario 23: base stage, one reboot, kube stage, and no kubelet before the last step of it. In long runs also kills in both
// stages and in the reboot between them, and a package that cannot be installed: the machine is put back and is the member
// that it was.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { InPlaceAttempt } from '../../../src/contract/in-place.ts';
import { payloadSteps } from '../../../src/in-place/payload/payload-steps.ts';
import { note } from '../fire/figures.ts';
import { isLong } from '../fire/long.ts';
import {
  type ConfigCluster,
  eventuallySeen,
  goodEnd,
  nodeSights,
  poolSight,
  removeMachineConfigs,
  rollOut,
  withApi,
} from '../machine-config/config-lab.ts';
import { inside } from '../machine-lab.ts';
import {
  inPlaceConfig,
  leftOnHost,
  onlyTheState,
  phasesOf,
  prepare,
  setPaused,
  start,
  untilEnded,
} from './in-place-lab.ts';
import { type KillPoint, killPointTests } from './kill-points.ts';
import { type MachineRepository, serveMachineRepository } from './machine-repository.ts';

const node = 'worker-0';
const kills: readonly KillPoint[] = [
  { victim: 'host unit', phase: 'Applying' },
  { victim: 'power', phase: 'Applying' },
  { victim: 'power', phase: 'Rebooting2' },
  { victim: 'host unit', phase: 'KubeApplying' },
  { victim: 'power', phase: 'KubeApplying' },
];

export function payloadRouteTopic(cluster: ConfigCluster): void {
  const on = (script: string): Promise<string> => inside(cluster.infraId(), node, script);
  const bootId = async (): Promise<string> => (await on('cat /proc/sys/kernel/random/boot_id')).trim();
  let repository: MachineRepository;
  let attempt: InPlaceAttempt;
  let oldBoot: string;

  beforeAll(async () => {
    const gateway = (await on("ip route show default | awk '{print $3}'")).trim();
    repository = await serveMachineRepository(cluster.folder, { cluster: cluster.infraId(), machine: node, gateway });
    oldBoot = await bootId();
    const startMs = performance.now();
    const attemptId = await prepare(cluster, node, '--os', 'rhel', '--region', 'eu-1');
    await start(cluster, node);
    attempt = await untilEnded(cluster, attemptId, 300);
    note('a node by payload, from a Secret to Succeeded', startMs);
  });

  afterAll(async () => {
    repository.stop();
    await on('rm -f /etc/apt/sources.list /etc/apt/ipb.gpg');
  });

  test('it runs through the phases of its route once and succeeds', () => {
    expect(attempt.status.failure).toBeUndefined();
    expect(phasesOf(attempt).slice(5)).toEqual([
      'Applying',
      'BaseDone',
      'Rebooting2',
      'KubeApplying',
      'Booted',
      'Joining',
      'Restoring',
      'Succeeded',
    ]);
  });

  test('the payload was the one of this worker, cluster and region', () => {
    const check = attempt.status.report.preflight.find(({ id }) => id === 'P12');
    expect(check).toMatchObject({ outcome: 'ok' });
    expect(check?.message).toContain(`payload is for ${node}, ${attempt.spec.clusterId}, eu-1`);
  });

  test('stage A ran before the one reboot, stage B after it, each step once and in its order', async () => {
    const newBoot = await bootId();
    expect(newBoot).not.toBe(oldBoot);
    const done = attempt.status.report.events.filter(({ step, status }) => step.includes('/') && status === 'ok');
    expect(done.map(({ step, bootId: boot }) => `${step} ${boot}`)).toEqual(
      payloadSteps.map(({ stage, name }) => `${stage}/${name} ${stage === 'base' ? oldBoot : newBoot}`),
    );
  });

  test('the kubelet ran in no moment of the new boot before the last step of stage B', async () => {
    const last = attempt.status.report.events.find(({ step, status }) => step === 'kube/start' && status === 'started');
    const first = await on('journalctl -b -u kubelet -o json --output-fields=MESSAGE | head -1');
    const { __REALTIME_TIMESTAMP: at } = JSON.parse(first) as { readonly __REALTIME_TIMESTAMP: string };
    expect(Number(at) / 1000).toBeGreaterThan(Date.parse(last?.at ?? ''));
  });

  test('packages and the kernel are those of the repository, and the settings of the base are in force', async () => {
    expect(await on('cat /opt/ipb/ipb-sample /opt/ipb/linux-image-sample')).toBe('2.0\n2.0\n');
    expect(await on('systemctl is-active rsyslog.service logrotate.timer')).toBe('active\nactive\n');
    expect(await on('cat /proc/sys/net/ipv4/conf/all/send_redirects; stat -c %a /etc/cron.d')).toBe('0\n700\n');
    expect(await on('logrotate --debug /etc/logrotate.d/ipb 2>&1 | grep -c "rotating pattern"')).toBe('1\n');
    expect(await on('systemctl --failed --no-legend --plain')).toBe('');
  });

  test('the machine has the configuration of its pool, and shows no drift', async () => {
    const seen = await eventuallySeen(cluster, { what: `that ${node} is Done`, seconds: 20 }, async (api) => {
      const { target } = await poolSight(api, 'worker');
      const [sight] = await nodeSights(api, [node]);
      return sight?.state === 'Done' ? { target, sight } : undefined;
    });
    expect(seen.sight).toMatchObject(goodEnd(seen.target));
    expect(await leftOnHost(on, attempt)).toMatch(onlyTheState);
  });

  describe('killed', () => {
    afterAll(async () => {
      if (!isLong) return;
      await setPaused(cluster, false);
      await rollOut(cluster, { seconds: 180 }, () => removeMachineConfigs(cluster, inPlaceConfig('kills').name));
    });

    killPointTests(cluster, kills, { nodeOf: () => node, secretOptions: ['--os', 'rhel'], seconds: 300 });
  });

  describe.runIf(isLong)('a package that cannot be installed', () => {
    beforeAll(async () => {
      repository.addBroken();
      const attemptId = await prepare(cluster, node, '--os', 'rhel');
      await start(cluster, node);
      attempt = await untilEnded(cluster, attemptId, 180);
    });

    afterAll(async () => {
      await on('dpkg --purge --force-all ipb-sample');
      await withApi(cluster, (api) =>
        api.mergePatch({ apiVersion: 'v1', kind: 'Node', name: node }, { spec: { unschedulable: null } }),
      );
    });

    test('ends in RolledBack, with step and reason, and the kubelet runs as before in the same boot', async () => {
      const { phase, failure } = attempt.status;
      expect({ phase, code: failure?.code }).toEqual({ phase: 'RolledBack', code: 'StageFailed' });
      expect(failure?.message).toMatch(/^base\/packages failed: [^]*dpkg: error processing package ipb-sample/);
      const sight = await eventuallySeen(cluster, { what: 'a kubelet that reports', seconds: 30 }, async (api) => {
        const [found] = await nodeSights(api, [node]);
        return found?.state === 'Done' ? found : undefined;
      });
      expect(sight).toMatchObject({ state: 'Done' });
    });
  });
}
