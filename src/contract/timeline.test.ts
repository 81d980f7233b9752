import { expect, test } from 'vitest';
import { fakeHost } from '../host/fake/fake-host.ts';
import { openTimeline, parseTimeline, timelineFile } from './timeline.ts';

test('a step is noted until it is done, and never again by the same process', async () => {
  const host = fakeHost();
  const timeline = openTimeline(host, 'agent');
  timeline.mark('keys', 'began');
  timeline.mark('keys', 'began');
  timeline.mark('keys', 'moved', { text: 'received the signers' });
  timeline.mark('keys', 'done');
  timeline.mark('keys', 'moved', { text: 'renewed' });
  timeline.mark('keys', 'done');
  await timeline.idle();
  const moments = parseTimeline(await host.files.readText(timelineFile));
  expect(moments.map(({ state, text }) => [state, text])).toEqual([
    ['began', undefined],
    ['moved', 'received the signers'],
    ['done', undefined],
  ]);
});

test('two programs of a machine share the file, and a line cut short by a crash is left out', async () => {
  const host = fakeHost();
  for (const by of ['first-boot', 'agent']) {
    const timeline = openTimeline(host, by);
    timeline.mark('x', 'began');
    await timeline.idle();
  }
  const text = await host.files.readText(timelineFile);
  expect(parseTimeline(`${text}{"at":"2026-`).map(({ by }) => by)).toEqual(['first-boot', 'agent']);
});

test('a disk that is full costs the notes and nothing else', async () => {
  const host = fakeHost();
  host.disk.isFull = true;
  const timeline = openTimeline(host, 'agent');
  timeline.mark('keys', 'began');
  await expect(timeline.idle()).resolves.toBeUndefined();
});
