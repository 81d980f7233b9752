// The upgrade of a pool in place: all workers go from one configuration to the next, one after the other, while somebody
// uses what runs on them. The configuration names another image of the daemon, as that of another release does. The pool
// itself is paused: nobody but the bootstrapper moves a node.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readInPlaceRun, runKind } from '../../../src/contract/in-place-run.ts';
import { releaseReferenceFile } from '../../../src/contract/machine-paths.ts';
import { note } from '../fire/figures.ts';
import {
  type ConfigCluster,
  goodEnd,
  nodeSights,
  removeMachineConfigs,
  rollOut,
  withApi,
  workers,
} from '../machine-config/config-lab.ts';
import { type NodeWatch, rebootsOf, watchNodes } from '../machine-config/node-watch.ts';
import { deployWeb, removeWeb, startWebClient, type WebClient } from '../machine-config/web-load.ts';
import { cli, inside } from '../machine-lab.ts';
import { attemptsOf, inPlaceConfig, inPlaceFile, setPaused, targetInPlace } from './in-place-lab.ts';

/** The same image under another name: to the machines it is that of another release. */
const nextDaemon = 'registry.test/firstlight-next:1';

export function poolRunTopic(cluster: ConfigCluster): void {
  let client: WebClient | undefined;
  let watch: NodeWatch | undefined;
  let target = '';

  beforeAll(async () => {
    const release = JSON.parse(await inside(cluster.infraId(), 'worker-0', `cat ${releaseReferenceFile}`)) as {
      readonly daemonImage: string;
    };
    for (const worker of workers) {
      const tag = `ctr --namespace k8s.io images tag ${release.daemonImage} ${nextDaemon}`;
      await inside(cluster.infraId(), worker, tag);
    }
    const text = JSON.stringify({ ...release, daemonImage: nextDaemon });
    target = await targetInPlace(cluster, 'second', { path: releaseReferenceFile, text });
    const url = await deployWeb(cluster);
    client = startWebClient(cluster, 'master-0', { url, perSecond: 20 });
    watch = watchNodes(cluster, workers);
  });

  afterAll(async () => {
    client?.kill();
    await removeWeb(cluster);
    await setPaused(cluster, false);
    await rollOut(cluster, { seconds: 60 }, () => removeMachineConfigs(cluster, inPlaceConfig('second').name));
    for (const worker of workers) {
      await inside(cluster.infraId(), worker, `ctr --namespace k8s.io images remove ${nextDaemon}`);
    }
  });

  test('every worker has the new configuration and is in use again, and what the former one had is gone', async () => {
    const startMs = performance.now();
    await cli('ipb', 'start', '--pool', 'worker', '--max-concurrent', '1', '--dir', cluster.dir);
    note('a pool of two workers in place', startMs);
    const nodes = await withApi(cluster, (api) => nodeSights(api, workers));
    expect(nodes).toMatchObject(workers.map((name) => ({ name, ...goodEnd(target) })));
    for (const worker of workers) {
      const look = `cat ${inPlaceFile('second')}; ls ${inPlaceFile('first')} 2>/dev/null || echo gone`;
      expect(await inside(cluster.infraId(), worker, look)).toBe('second\ngone\n');
    }
  });

  test('the daemon that applied it came out of the image that the configuration names', async () => {
    for (const worker of workers) {
      const attempt = (await withApi(cluster, (api) => attemptsOf(api, worker))).at(-1);
      const said = attempt?.status.report.events.find(({ step }) => step === 'download')?.message;
      expect(said).toContain(`with the daemon out of ${nextDaemon}`);
    }
  });

  test('the run says which node it brought where', async () => {
    const runs = await withApi(cluster, async (api) =>
      (await api.list(runKind)).items.flatMap((o) => readInPlaceRun(o) ?? []),
    );
    const run = runs.at(-1);
    expect(run?.status.state).toBe('Succeeded');
    expect(run?.status.nodes.map(({ node, phase }) => [node, phase])).toEqual(workers.map((w) => [w, 'Succeeded']));
  });

  test('each worker booted once, and at most one was away at a time', async () => {
    const story = await watch?.end();
    if (story === undefined) throw new Error('nobody watched');
    expect(workers.map((worker) => rebootsOf(story, worker))).toEqual([1, 1]);
    expect(story.mostUnavailable).toBe(1);
  });

  test('a client at 20 requests a second had every answer, with one retry at most', async () => {
    const report = await client?.end();
    expect(report?.failed).toEqual([]);
    expect(report?.answered).toBe(report?.asked);
    expect(report?.answered).toBeGreaterThan(100);
    expect(report?.answeredBy.length).toBeGreaterThanOrEqual(4);
  });
}
