import { gunzipSync } from 'node:zlib';
import { unpackTar } from 'modern-tar';
import { expect, test } from 'vitest';
import { isError } from '../errors/firstlight-error.ts';
import { hostErrors } from '../host/errors.ts';
import { fakeHost } from '../host/fake/fake-host.ts';
import { newBundleId, newestBundle, readLogBundle, writeLogBundle } from './bundle-archive.ts';
import { bundleContents } from './bundle-contents.ts';
import { resourceFile, resourceKinds } from './cluster-wide/resource-kinds.ts';
import { gatherErrors } from './errors.ts';
import { type GatherOptions, gather } from './gather.ts';
import { analyzeService, summarizeBundle } from './summarize-bundle.ts';

const refused = async (): Promise<never> => {
  throw hostErrors.NETWORK({ target: 'the API', failure: 'refused', reason: 'connection refused' });
};

/** A cluster with one machine, whose shell prints what is given; the API does not answer. */
function cluster(lines: readonly string[] | 'nothing, ever'): GatherOptions {
  const host = fakeHost({
    processes: {
      run: async (_program, _args, options) => {
        if (lines === 'nothing, ever') {
          await new Promise((_resolve, reject) => {
            options?.signal?.addEventListener('abort', () => reject(options.signal?.reason as Error));
          });
        } else for (const line of lines) options?.onLine?.(line, 'stdout');
        return { code: 0, signal: undefined, stdout: '', stderr: '', timedOut: false };
      },
    },
  });
  return {
    host,
    dir: '/home/core/cluster',
    machines: [
      { name: 'bootstrap', role: 'bootstrap', address: '10.99.0.10', state: 'running', shell: async () => ['sh'] },
    ],
    connect: refused,
    waterfall: refused,
    diagnose: async () => ({
      reasons: [
        {
          check: 'disk-full',
          certainty: 'measured',
          sentence: 'the disk of <b>bootstrap</b> is full',
          seen: '0 MiB are free',
          next: { verb: 'machine', rest: 'exec' },
        },
      ],
      missing: ['bootstrap waits for space'],
    }),
    about: {
      id: '20260101000000',
      cluster: 'demo',
      infraId: 'demo-abcde',
      platform: 'local',
      version: '0.1.0',
      command: 'firstlight gather',
      madeAt: '2026-01-01T00:00:00Z',
    },
    collectMs: 10_000,
    report: () => {},
    signal: new AbortController().signal,
  };
}

const file = (part: string, path: string, text: string): readonly string[] => [
  `@file ${part} ${path}`,
  Buffer.from(text).toString('base64'),
  '@end',
];

const failedUnit = 'bootkube.service loaded failed failed Bootstrap the cluster\n';

test('the bundle has everything that could be taken, and says what could not', async () => {
  const files = await gather(cluster([...file('1.0', 'failed-units.txt', failedUnit), '@over']));
  expect(files.get('failed-units.txt')).toBe(`bootstrap ${failedUnit}`);
  const summary = summarizeBundle(files);
  expect(summary.machines).toMatchObject([{ name: 'bootstrap', look: 'inside', failedUnits: ['bootkube.service'] }]);
  expect(summary.diagnosis.reasons[0]?.check).toBe('disk-full');
  expect(summary.missed.map(({ what }) => what).sort()).toEqual(['resources', 'timeline']);
  expect(files.get('gather.log')).toContain('not taken: resources');
});

test('the page says what failed first, and obeys no markup of a machine', async () => {
  const page =
    (await gather(cluster([...file('1.0', 'failed-units.txt', failedUnit), '@over']))).get('index.html') ?? '';
  expect(page).toContain('the disk of &lt;b&gt;bootstrap&lt;/b&gt; is full');
  expect(page).toContain('href="bootstrap/failed-units.txt"');
  expect(page).not.toMatch(/<script|src="http|<b>/);
});

test('when the time is over, the bundle is made of what was taken until then', async () => {
  const options = cluster('nothing, ever');
  const folder = await gather({
    ...options,
    connect: () => new Promise(() => {}),
    diagnose: () => new Promise(() => {}),
  })
    .then(() => 'a bundle')
    .catch((error: unknown) => error);
  expect(isError(folder, gatherErrors.NOTHING)).toBe(true);
  expect(String(folder)).toContain('the time was over');
});

test('only when nothing at all could be taken is it an error', async () => {
  const none = await gather({ ...cluster([]), machines: [] }).catch((error: unknown) => error);
  expect(isError(none, gatherErrors.NOTHING)).toBe(true);
});

test('files and the whole bundle have a size that they do not exceed', () => {
  const contents = bundleContents(fakeHost().clock, { fileBytes: 20, bundleBytes: 60, files: 10 });
  contents.add('long.txt', 'first line\nsecond line\nlast line\n');
  expect(contents.files().get('long.txt')).toBe('[the beginning is left out]\nlast line\n');
  for (const name of ['a', 'b', 'c']) contents.add(name, 'x'.repeat(15));
  expect(contents.missed()).toEqual([{ what: 'c', reason: 'the bundle is full' }]);
});

test('it is one archive for its owner alone, and no other one is overwritten', async () => {
  const { files } = fakeHost();
  await files.makeFolder('/dir');
  const now = new Date('2026-11-16T19:30:00Z');
  const target = { dir: '/dir', id: await newBundleId(files, '/dir', now), now };
  const path = await writeLogBundle(files, new Map([['a/b.txt', 'text']]), target);
  expect(path).toBe('/dir/log-bundle-20261116193000.tar.gz');
  await expect(writeLogBundle(files, new Map([['a', 'other']]), target)).rejects.toThrow();
  expect(await newBundleId(files, '/dir', now)).toBe('20261116193001');
  expect(await files.list('/dir')).toEqual(['log-bundle-20261116193000.tar.gz']);
  expect((await files.facts(path))?.mode).toBe(0o600);
  const entries = await unpackTar(gunzipSync(await files.read(path)));
  expect(entries.map(({ header }) => header.name)).toEqual(['log-bundle-20261116193000/a/b.txt']);
  expect(await readLogBundle(files, await newestBundle(files, '/dir'))).toEqual(new Map([['a/b.txt', 'text']]));
});

test('a service has succeeded when its last record says so, and failed in the stage of its last failure', () => {
  const at = { timestamp: '2026-11-16T19:30:00Z' };
  const begin = [
    { ...at, phase: 'service start' },
    { ...at, phase: 'stage start', stage: 'etcd' },
  ];
  const failed = { ...at, phase: 'stage end', stage: 'etcd', result: 'failure', errorMessage: 'no space' };
  expect(analyzeService('bootkube', [...begin, failed, { ...at, phase: 'service end', result: 'failure' }])).toEqual({
    name: 'bootkube',
    starts: 1,
    isSuccess: false,
    stages: [{ name: 'etcd', state: 'failed', at: at.timestamp, error: 'no space' }],
  });
  const done = [
    { ...at, phase: 'stage end', stage: 'etcd', result: 'success' },
    { ...at, phase: 'service end', result: 'success' },
  ];
  expect(analyzeService('bootkube', [...begin, failed, ...begin, ...done])).toMatchObject({
    starts: 2,
    isSuccess: true,
  });
});

test('Secrets, and what holds tokens, are no kind that is asked for; every kind has a file of its own', () => {
  expect(resourceKinds.filter(({ kind }) => /secret|token|serviceaccount/i.test(kind))).toEqual([]);
  const names = resourceKinds.map(resourceFile);
  expect(names).toEqual([...new Set(names)]);
});
