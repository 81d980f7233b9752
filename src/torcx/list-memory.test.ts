import { expect, test } from 'vitest';
import { type AcceptedList, acceptedList, replayReason } from './list-memory.ts';
import type { ListSubject } from './package-manifest.ts';

const [may, june] = ['2018-05-01T00:00:00.000Z', '2018-06-01T00:00:00.000Z'];
const list = (osVersion: string, signedAt: string, signature: string): AcceptedList => ({
  board: 'amd64-usr',
  osVersion,
  signedAt,
  signature,
});
const known = [list('1520.5.0', june, 'a'), list('1576.4.0', may, 'b')];
const each = (subject: ListSubject): string => `https://x.test/${subject.board}/${subject.osVersion}`;
const oneForAll = (): string => 'https://x.test/list';

test.each([
  ['the same list again', list('1520.5.0', june, 'a'), false, each, undefined],
  ['a newer list', list('1576.4.0', june, 'c'), false, each, undefined],
  ['an older list', list('1520.5.0', may, 'c'), false, each, /signed at 2018-05.* accepted one signed at 2018-06/],
  ['an older list that names its subject', list('1520.5.0', may, 'c'), true, each, /signed at 2018-05/],
  ['a list for an OS version that is new here', list('1632.2.1', may, 'c'), false, each, undefined],
  ['a list of another OS version', list('1632.2.1', june, 'a'), false, each, /accepted for OS 1520\.5\.0 on amd64-usr/],
  ['the same where one list is for all', list('1632.2.1', june, 'a'), false, oneForAll, undefined],
  ['the same where the list names its subject', list('1632.2.1', june, 'a'), true, each, undefined],
])('%s', (_name, asked, isBound, urlOf, reason) => {
  const said = replayReason(asked, known, { isBound, urlOf });
  if (reason === undefined) expect(said).toBeUndefined();
  else expect(said).toMatch(reason);
});

test('a signature from the future is remembered as of today: it must not lock out the lists of tomorrow', () => {
  const now = new Date(june);
  const signer = { keyId: '', userId: '', signedAt: new Date('2038-01-01T00:00:00Z'), warnings: [] };
  const subject = { board: 'amd64-usr', osVersion: '1520.5.0' };
  expect(acceptedList(subject, { signer, signature: Buffer.of(1), now }).signedAt).toBe(june);
});
