import { expect, test } from 'vitest';
import { fakeHost } from '../host/fake/fake-host.ts';
import { RateLimit } from './rate-limit.ts';
import { answerEntry, type LogEntry, limitedLog, serverLog } from './server-log.ts';

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
    answer: { status: 200, headers: {}, body: Buffer.from('{}') },
    decision: { route: 'config', reason: 'served', pool: 'master', tokenId: id },
    ms: 1.26,
  } as const;
}

function setUp() {
  const written: string[] = [];
  const log = serverLog(fakeHost().clock, { level: 'info', write: (line) => void written.push(line) });
  const lines = () => written.map((line) => JSON.parse(line) as Record<string, unknown>);
  return { log, say: (changes: Parameters<typeof answer>[0]) => log(answerEntry(answer(changes))), lines };
}

test('every answer has a line of JSON, in order and with what is its own', () => {
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

test('a secret in what a client sent is in no line', () => {
  const { say, lines } = setUp();
  say({ target: `/config/${token}` });
  for (const agent of [`x ${token}`, `token=${token}`, 'Authorization: Bearer hunter2']) say({ agent });
  const text = JSON.stringify(lines());
  expect(lines()).toHaveLength(4);
  expect(text).not.toContain(token);
  expect(text).not.toContain('hunter2');
});

test('what a client sent is one line, and no longer than a line', () => {
  const { say, lines } = setUp();
  say({ target: `/${'x'.repeat(10_000)}`, agent: `one\ntwo\u001b[31m${'ü'.repeat(10_000)}` });
  const [line] = lines();
  expect(line?.['path']).toHaveLength(100);
  expect(line?.['agent']).toMatch(/^one\?two\?\[31m\?+\.\.\.$/);
});

test('entries below the level are left out', () => {
  const { log, lines } = setUp();
  for (const level of ['debug', 'info', 'warn', 'error'] satisfies LogEntry['level'][]) {
    log({ level, text: level, fields: {} });
  }
  expect(lines().map(({ text }) => text)).toEqual(['info', 'warn', 'error']);
});

test('warnings that one client causes are limited and counted, and never those of another or what was served', () => {
  const { log, lines } = setUp();
  const { clock } = fakeHost();
  const limited = limitedLog(log, new RateLimit(clock, { burst: 2, everyMs: 1_000 }));
  const say = (address: string, level: LogEntry['level'] = 'warn'): void =>
    limited({ level, text: address, fields: { address } });
  for (let index = 0; index < 50; index += 1) say('10.0.0.1');
  say('10.0.0.2');
  say('10.0.0.1', 'info');
  expect(lines().map(({ text, leftOut }) => [text, leftOut])).toEqual([
    ['10.0.0.1', undefined],
    ['10.0.0.1', undefined],
    ['10.0.0.2', 48],
    ['10.0.0.1', undefined],
  ]);
});
