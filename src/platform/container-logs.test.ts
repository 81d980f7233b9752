import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { fakeHost } from '../host/fake/fake-host.ts';
import { chooseContainerLog, containerLineReader, listContainerLogs, readContainerLines } from './container-logs.ts';

const etcd = '/var/log/pods/kube-system_etcd-master-0_b1/etcd';
const earlier = '/var/log/pods/kube-system_etcd-master-0_f9/etcd';
const proxy = '/var/log/pods/default_web-1_c3/proxy';
const otherProxy = '/var/log/pods/default_web-2_c4/proxy';

async function logs() {
  const { files } = fakeHost();
  const written = {
    [`${etcd}/1.log`]: '2026-01-03T00:00:00Z stderr F again\n',
    [`${etcd}/0.log`]: '2026-01-02T00:00:00Z stderr F first\n',
    [`${etcd}/0.log.20260102-000000.gz`]: 'not read',
    [`${earlier}/0.log`]: '2026-01-01T00:00:00Z stderr F of a pod before\n',
    [`${proxy}/0.log`]: '',
    [`${otherProxy}/0.log`]: '',
  };
  for (const [path, content] of Object.entries(written)) {
    await files.makeFolder(dirname(path));
    await files.write(path, content);
  }
  return listContainerLogs(files);
}

const on = { machine: 'master-0', isPrevious: false };

test('the lives of a container follow each other, also over pods of the same name', async () => {
  expect((await logs()).find(({ name }) => name.endsWith('/etcd'))).toEqual({
    name: 'kube-system/etcd-master-0/etcd',
    lives: [`${earlier}/0.log`, `${etcd}/0.log`, `${etcd}/1.log`],
  });
});

test('a container is named by itself, or with its pod where several are called so', async () => {
  const known = await logs();
  expect(chooseContainerLog(known, { ...on, container: 'etcd' })).toBe(`${etcd}/1.log`);
  expect(chooseContainerLog(known, { ...on, container: 'etcd', isPrevious: true })).toBe(`${etcd}/0.log`);
  expect(chooseContainerLog(known, { ...on, container: 'web-2/proxy' })).toBe(`${otherProxy}/0.log`);
  expect(() => chooseContainerLog(known, { ...on, container: 'proxy' })).toThrow(
    'master-0 has several containers proxy: default/web-1/proxy, default/web-2/proxy',
  );
});

test('an unknown container is refused with those that are there, and a first life has none before it', async () => {
  const known = await logs();
  expect(() => chooseContainerLog(known, { ...on, container: 'tcd' })).toThrow(
    'master-0 has no container tcd; it has default/web-1/proxy, default/web-2/proxy, kube-system/etcd-master-0/etcd',
  );
  expect(() => chooseContainerLog([], { ...on, container: 'etcd' })).toThrow('it has no log of any container');
  expect(() => chooseContainerLog(known, { ...on, container: 'web-1/proxy', isPrevious: true })).toThrow(
    'default/web-1/proxy of master-0 was started only once',
  );
});

test('a long line that the runtime cut is whole again, and what is no line of a log is left out', () => {
  const text = [
    '2026-01-01T00:00:00.5Z stdout P one ',
    '2026-01-01T00:00:00.6Z stderr F between',
    '2026-01-01T00:00:00.7Z stdout F line',
    'torn',
    '2026-01-01T00:00:01Z stdout F ',
    '',
  ].join('\n');
  expect(readContainerLines(Buffer.from(text)).map(({ stream, text: said }) => [stream, said])).toEqual([
    ['stderr', 'between'],
    ['stdout', 'one line'],
    ['stdout', ''],
  ]);
  expect(containerLineReader()('2026-01-01T00:00:00Z stdout F x')?.at).toEqual(new Date('2026-01-01T00:00:00Z'));
});
