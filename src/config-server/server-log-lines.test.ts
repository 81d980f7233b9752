import { expect, test } from 'vitest';
import { fakeHost } from '../host/fake/fake-host.ts';
import { answerEntries } from './server-log.ts';
import { openServerLog } from './server-log-lines.ts';

const token = 'abcdef.0123456789abcdef';

function answer(changes: {
  readonly target?: string;
  readonly agent?: string;
  readonly address?: string;
  readonly id?: string;
}) {
  const { target = '/config/master', agent = 'Ignition/2.24.0', address = '10.0.0.1', id = 'aaaaaa' } = changes;
  return {
    request: { method: 'GET', target, headers: { 'user-agent': agent }, peer: { address, from: 'connection' } },
    answer: { status: 200, headers: {}, body: [Buffer.from('{}')] },
    decision: { route: 'config', reason: 'served', pool: 'master' },
    tokenId: id,
    ms: 1.26,
  } as const;
}

function place() {
  const written: string[] = [];
  const write = (text: string | Uint8Array) => void written.push(text.toString());
  return { host: fakeHost(), write, written };
}

function setUp() {
  const { host, write, written } = place();
  const log = openServerLog(host, { level: 'info', write });
  const entryOf = answerEntries();
  const lines = (): Record<string, unknown>[] => {
    log[Symbol.dispose]();
    return written
      .join('')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  };
  return { say: (changes: Parameters<typeof answer>[0]) => log.log(entryOf(answer(changes))), lines };
}

test('answers that are alike but for the machine have a line each, in order and with what is their own', () => {
  const { say, lines } = setUp();
  say({ address: '10.0.0.1', id: 'aaaaaa' });
  say({ address: '10.0.0.2', id: 'bbbbbb' });
  say({ agent: 'curl/8', id: 'cccccc' });
  const shared = { level: 'info', text: 'GET /config/master 200 served', pool: 'master', bytes: 2, ms: 1.3 };
  expect(lines()).toMatchObject([
    { ...shared, address: '10.0.0.1', tokenId: 'aaaaaa', agent: 'Ignition/2.24.0' },
    { ...shared, address: '10.0.0.2', tokenId: 'bbbbbb', agent: 'Ignition/2.24.0' },
    { ...shared, address: '10.0.0.1', tokenId: 'cccccc', agent: 'curl/8' },
  ]);
});

test('a secret in what a client sent is in no line, the first time and every other time', () => {
  const { say, lines } = setUp();
  for (const target of [`/config/${token}`, `/config/${token}`]) say({ target });
  for (const agent of [`x ${token}`, `token=${token}`, 'Authorization: Bearer hunter2']) say({ agent });
  const text = JSON.stringify(lines());
  expect(lines()).toHaveLength(5);
  expect(text).not.toContain(token);
  expect(text).not.toContain('hunter2');
});

test('lines that do not fit together, and one that does not fit at all, are written whole and in order', () => {
  const { host, write, written } = place();
  using opened = openServerLog(host, { level: 'info', write });
  const texts = [
    ...Array.from({ length: 200 }, (_, index) => `${index} ${'ü'.repeat(400)}`),
    'ü'.repeat(100_000),
    'end',
  ];
  for (const text of texts) opened.log({ level: 'info', text, fields: {}, own: { bytes: text.length } });
  opened[Symbol.dispose]();
  const lines = written.join('').split('\n').slice(0, -1);
  const read = lines.map((line) => JSON.parse(line) as { readonly text: string; readonly bytes: number });
  expect(read.map(({ text }) => text)).toEqual(texts);
  expect(read.every(({ text, bytes }) => text.length === bytes)).toBe(true);
});

test('a thousand paths of a stranger leave no more behind than a few', () => {
  const entryOf = answerEntries();
  const first = entryOf(answer({ target: '/first' }));
  expect(entryOf(answer({ target: '/first' })).fields).toBe(first.fields);
  for (let number = 0; number < 1_000; number += 1) entryOf(answer({ target: `/${number}` }));
  expect(entryOf(answer({ target: '/first' })).fields).not.toBe(first.fields);
});
