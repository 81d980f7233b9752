// One node that somebody has wrecked by hand: five faults at once are all reported and change nothing; with a Secret that is
// right it comes back healthy in one reboot, with its labels and taints and with those that others gave it meanwhile.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  attemptFiles,
  type InPlaceAttempt,
  inPlaceAnnotations,
  readInPlaceStatus,
  restoringTaint,
  scheduledValue,
  scheduleLabels,
} from '../../../src/contract/in-place.ts';
import { note } from '../fire/figures.ts';
import {
  type ConfigCluster,
  eventuallySeen,
  goodEnd,
  nodeSights,
  poolSight,
  untilRolledOut,
  withApi,
} from '../machine-config/config-lab.ts';
import { inside } from '../machine-lab.ts';
import { type ApiRecord, type ApiStory, type NodeVersion, nodeVersion, recordNode, type Taint } from './api-record.ts';
import { type ForeignReports, serveForeignReports } from './foreign-reports.ts';
import {
  attemptsOf,
  changeSecret,
  goodPhases,
  inPlaceFile,
  leftOnHost,
  nodeReference,
  onlyTheState,
  phasesOf,
  pictureOfHost,
  prepare,
  setPaused,
  startByHand,
  targetInPlace,
  untilEnded,
  untilPhase,
} from './in-place-lab.ts';
import { seenOfWrecks, wreck, wrecks } from './wreckage.ts';

const node = 'worker-0';
const [label] = scheduleLabels;
const taint = (name: string) => ({ key: `proof.example/${name}`, value: 'yes', effect: 'PreferNoSchedule' }) as const;

/** Each fault is one of its own: none of them makes another check fail. */
const faults = {
  P01: { 'not-after': '2020-01-01T00:00:00Z' },
  P08: { 'ignition-token': 'of-nobody' },
  P10: { 'registry-probe': '127.0.0.1:9/nobody/nothing:latest' },
  P13: { 'report-url': 'https://127.0.0.1:9', 'report-token': 'x', report: 'required' },
} as const;

export function wreckedNodeTopic(cluster: ConfigCluster): void {
  const on = (script: string): Promise<string> => inside(cluster.infraId(), node, script);
  const nodeNow = (): Promise<NodeVersion> =>
    withApi(cluster, async (api) => nodeVersion(await api.get(nodeReference(node))));
  const patchNode = (patch: object): Promise<unknown> =>
    withApi(cluster, (api) => api.mergePatch(nodeReference(node), patch));

  beforeAll(async () => {
    await patchNode({
      metadata: { labels: { 'proof.example/kept': 'old', 'proof.example/changed': 'old' } },
      spec: { taints: [taint('kept')] },
    });
    await targetInPlace(cluster, 'first');
    await wreck(cluster, node);
  });

  afterAll(async () => {
    const names = [...['kept', 'changed', 'added'].map((name) => `proof.example/${name}`), label].map((key) => [
      key,
      null,
    ]);
    await patchNode({ metadata: { labels: Object.fromEntries(names) }, spec: { taints: null, unschedulable: null } });
    await setPaused(cluster, false);
    await untilRolledOut(cluster, { seconds: 60 });
  });

  describe('24: faults before it begins', () => {
    let attempt: InPlaceAttempt;
    let before: string;

    beforeAll(async () => {
      const attemptId = await prepare(cluster, node);
      await changeSecret(cluster, node, Object.assign({}, ...Object.values(faults)) as Record<string, string>);
      // The fifth is one of the host: /boot is too small.
      await on('mkdir -p /boot && mount -t tmpfs -o size=8m tmpfs /boot');
      before = await pictureOfHost(cluster, node);
      await startByHand(cluster, node);
      attempt = await untilEnded(cluster, attemptId, 60);
    });

    afterAll(() => on('umount /boot'));

    test('all five are reported, each with its id, and no other', () => {
      expect(attempt.status.phase).toBe('PreflightFailed');
      const failed = attempt.status.report.preflight.filter(({ outcome }) => outcome === 'failed');
      expect(failed.map(({ id }) => id).sort()).toEqual(['P01', 'P06', 'P08', 'P10', 'P13']);
      expect(failed.find(({ id }) => id === 'P01')?.message).toContain('2020-01-01');
      expect(failed.every(({ id, message }) => message.startsWith(`IPB-${id} `))).toBe(true);
    });

    test('no file and no unit of the host has changed, and its kubelet runs on', async () => {
      expect(await pictureOfHost(cluster, node)).toBe(before);
    });

    test('the label stays, and the node stays cordoned', async () => {
      const { labels, isCordoned, isReady } = await nodeNow();
      expect([labels[label], isCordoned, isReady]).toEqual([scheduledValue, true, true]);
    });
  });

  describe('22: with a Secret that is right', () => {
    let attemptId: string;
    let record: ApiRecord;
    let attempt: InPlaceAttempt;
    let story: ApiStory;
    let wanted: NodeVersion;
    let oldBoot: string;
    let foreign: ForeignReports;

    beforeAll(async () => {
      foreign = await serveForeignReports(cluster, node);
      wanted = await nodeNow();
      oldBoot = wanted.bootId;
      record = await recordNode(cluster, node);
      const startMs = performance.now();
      // The label is still there: a Secret with a new attempt-id is all it takes.
      attemptId = await prepare(cluster, node, ...foreign.options);
      await untilPhase(cluster, { attemptId, phase: 'LabelCleared', seconds: 60 });
      // Meanwhile others go on with their work, and somebody is impatient.
      await patchNode({
        metadata: { labels: { 'proof.example/changed': 'new', 'proof.example/added': 'new', [label]: scheduledValue } },
      });
      const { taints } = await nodeNow();
      await patchNode({ spec: { taints: [...taints, taint('added')] } });
      attempt = await untilEnded(cluster, attemptId, 90);
      note('a wrecked node, from a right Secret to Succeeded', startMs);
      story = await record.end();
    });

    afterAll(() => foreign.stop());

    test('it runs through every phase once and succeeds', () => {
      expect(attempt.status.failure).toBeUndefined();
      expect(phasesOf(attempt)).toEqual(goodPhases);
    });

    test('everything that was wrecked is as the configuration says, and no drift is left', async () => {
      expect(await seenOfWrecks(cluster, node)).toEqual(wrecks.map(({ mended }) => mended));
      const seen = await eventuallySeen(cluster, { what: `that ${node} is Done`, seconds: 20 }, async (api) => {
        const { target } = await poolSight(api, 'worker');
        const [sight] = await nodeSights(api, [node]);
        return sight?.state === 'Done' ? { target, sight } : undefined;
      });
      expect(seen.sight).toMatchObject(goodEnd(seen.target));
      expect(await on(`cat ${inPlaceFile('first')}`)).toBe('first\n');
    });

    test('the label was gone before the first sign of life of the new boot, by the versions of the API', () => {
      const isLabelled = ({ labels }: NodeVersion): boolean => labels[label] === scheduledValue;
      const gone = story.node.find((version, index) => index > 0 && !isLabelled(version));
      const firstOfBoot = story.node.find(({ bootId }) => bootId !== oldBoot);
      if (gone === undefined || firstOfBoot === undefined) throw new Error('the label never went, or no boot was seen');
      expect(gone.version).toBeLessThan(firstOfBoot.version);
      // No kubelet runs from the report of its end on: the next renewal of its Lease is the first one of the new boot.
      const stopped = attempt.status.report.phases.find(({ phase }) => phase === 'KubeletStopped')?.at ?? '';
      const renewed = story.renewals.find(({ at }) => Date.parse(at) > Date.parse(stopped));
      expect(gone.version).toBeLessThan(renewed?.version ?? 0n);
    });

    test('25: the label that somebody set again meanwhile is ignored: one attempt, one apply, one reboot', async () => {
      const attempts = await withApi(cluster, (api) => attemptsOf(api, node));
      expect(attempts.map(({ status }) => status.phase)).toEqual(['PreflightFailed', 'Succeeded']);
      const applied = attempt.status.report.phases.filter(({ phase }) => phase === 'Applying');
      expect(applied).toHaveLength(1);
      expect(new Set(story.node.map(({ bootId }) => bootId)).size).toBe(2);
      const now = await nodeNow();
      expect(now.annotations[inPlaceAnnotations.claim]).toBeUndefined();
      expect(readInPlaceStatus(now.annotations[inPlaceAnnotations.status])?.phase).toBe('Succeeded');
    });

    test('labels and taints are those of before, with what others changed meanwhile', async () => {
      const now = await nodeNow();
      const { [label]: _, ...labels } = wanted.labels;
      expect(now.labels).toMatchObject({
        ...labels,
        'proof.example/kept': 'old',
        'proof.example/changed': 'new',
        'proof.example/added': 'new',
      });
      expect([...now.taints].sort((a, b) => a.key.localeCompare(b.key))).toMatchObject([taint('added'), taint('kept')]);
    });

    test('the cordon went last, with the taint that keeps workloads away until then', () => {
      const index = story.node.findLastIndex(({ isCordoned }) => isCordoned) + 1;
      const [last, ...later] = story.node.slice(index);
      if (last === undefined) throw new Error('the node is cordoned');
      expect(last.taints.map(({ key }) => key)).not.toContain(restoringTaint.key);
      for (const version of later) {
        expect(version.labels).toEqual(last.labels);
        expect(version.taints.filter(isOfPeople)).toEqual(last.taints.filter(isOfPeople));
      }
      const firstReady = story.node.find(({ bootId, isReady }) => bootId !== oldBoot && isReady);
      expect(firstReady?.isCordoned).toBe(true);
    });

    test('a progress API of others was told every phase of the machine, in its order and without a gap', async () => {
      // What only the controller says is not in it.
      const wantedPhases = goodPhases.filter((phase) => !['Scheduled', 'Restoring', 'Succeeded'].includes(phase));
      const phases = () => [...new Set(foreign.taken(attemptId).map((line) => line.split(' ')[0]))];
      await expect.poll(phases, { timeout: 10_000 }).toEqual(wantedPhases);
      const checks = foreign.taken(attemptId).filter((line) => /^Preflight P\d+$/.test(line));
      expect(checks).toHaveLength(14);
    });

    test('nothing secret is left on the machine, and a moment later nothing but the state of the attempt', async () => {
      const { folder } = attemptFiles(attempt.spec.attemptId);
      expect(['', 'program\n']).toContain(await on(`ls -A ${folder} 2>/dev/null || true`));
      expect(await leftOnHost(on, attempt)).toMatch(onlyTheState);
    });
  });
}

/** The node controller takes its own taint away a moment after the cordon. */
function isOfPeople({ key }: Taint): boolean {
  return !key.startsWith('node.kubernetes.io/');
}
