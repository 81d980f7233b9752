import { describe, expect, test } from 'vitest';
import { changedLines, clockTime, type FrameStyle, type FrameView, frameLines, seconds } from './frame.ts';

const view: FrameView = {
  title: 'firstlight · cluster',
  elapsedMs: 11_430,
  steps: [
    { name: 'assets', state: 'done', note: '41 files, 14 certificates', ms: 300, details: [] },
    {
      name: 'masters',
      state: 'running',
      note: '',
      ms: 3_100,
      details: [
        { name: 'master-0', text: 'etcd voter · waits for kube-apiserver' },
        {
          name: 'master-1',
          text: `waiting for https://api-int.demo.firstlight.test:22623/config/master and ${'x'.repeat(80)}`,
        },
      ],
    },
    { name: 'handoff', state: 'waiting', note: '', details: [] },
  ],
  members: [
    { name: 'bootstrap', state: 'voter' },
    { name: 'master-0', state: 'voter' },
    { name: 'master-1', state: 'joining' },
    { name: 'master-2', state: 'absent' },
  ],
};
const plain = { columns: 80, rows: 24, hasColors: false };

function frameTexts(shown: FrameView, style: FrameStyle): readonly string[] {
  return frameLines(shown, style).map(({ text }) => text);
}

describe('the frame', () => {
  test('shows every step, the details of the one that runs, and who votes', () => {
    expect(frameTexts(view, plain)).toEqual([
      'firstlight · cluster                                                      0:11.4',
      '',
      '  ✓ assets            41 files, 14 certificates                            0.3 s',
      '  ▸ masters                                                                3.1 s',
      '      master-0        etcd voter · waits for kube-apiserver',
      '      master-1        waiting for https://api-int.demo.firstlight.test:22623/co…',
      '    handoff',
      '',
      '  etcd  ● bootstrap  ● master-0  ◌ master-1  · master-2            quorum 2 of 2',
    ]);
  });

  test('never is wider than 80 columns or than the terminal', () => {
    for (const columns of [200, 80, 60, 33]) {
      for (const line of frameTexts(view, { columns, rows: 24, hasColors: false })) {
        expect(line.length).toBeLessThanOrEqual(Math.min(columns, 80));
      }
    }
  });

  test('says without colours all that it says with them', () => {
    const colored = frameLines(view, { columns: 80, rows: 24, hasColors: true });
    expect(colored.map(({ text }) => text)).toEqual(frameTexts(view, plain));
    expect(colored.map(({ color }) => color)).toContain('green');
    expect(frameLines(view, plain).every(({ color }) => color === undefined)).toBe(true);
  });

  test('what a machine says stays in its line and moves no cursor', () => {
    const said = 'up\u001B[9A\rfine\n  ✓ handoff done\u202E';
    const steps = view.steps.map((step) => ({ ...step, details: [{ name: 'master-0', text: said }] }));
    const lines = frameTexts({ ...view, steps, likely: said }, plain);
    expect(lines).toContain('      master-0        up\\u001b[9A\\rfine\\n  ✓ handoff done\\u202e');
    const piped = changedLines(view, { ...view, steps });
    expect(piped).toContain('    master-0: up\\u001b[9A\\rfine\\n  ✓ handoff done\\u202e');
    expect(lines.at(-1)).toBe('  likely  up\\u001b[9A\\rfine\\n  ✓ handoff done\\u202e');
  });
});

describe('a low screen', () => {
  const many = {
    ...view,
    steps: view.steps.map((step) =>
      step.state === 'running'
        ? { ...step, details: [...Array(8).keys()].map((n) => ({ name: `worker-${n}`, text: 'settled' })) }
        : step,
    ),
  };

  test('loses first what has not begun, then what is done, at last machines, and never the step that runs', () => {
    const names = (rows: number): readonly string[] =>
      frameTexts(many, { ...plain, rows }).map((line) => line.trim().split(/\s+/).slice(0, 2).join(' '));
    expect(names(24)).toEqual(expect.arrayContaining(['handoff', '✓ assets', '▸ masters', 'worker-7 settled']));
    expect(names(15)).not.toContain('handoff');
    expect(names(15)).toContain('✓ assets');
    expect(names(14)).not.toContain('✓ assets');
    expect(names(14)).toContain('worker-7 settled');
    expect(names(10)).toEqual(expect.arrayContaining(['▸ masters', 'worker-2 settled', '… and']));
    expect(names(10)).not.toContain('worker-4 settled');
  });

  test.each([24, 15, 10, 8])('is never filled beyond %i rows, the one of the cursor included', (rows) => {
    expect(frameLines(many, { ...plain, rows }).length).toBeLessThan(rows);
  });
});

test('the likely reason is below all, in lines that fit', () => {
  const likely =
    'api-int.a-rather-long-name.firstlight.test does not resolve on master-2, says its name server 10.99.0.1';
  expect(frameTexts({ ...view, likely }, plain).slice(-3)).toEqual([
    '',
    '  likely  api-int.a-rather-long-name.firstlight.test does not resolve on',
    '          master-2, says its name server 10.99.0.1',
  ]);
  expect(changedLines(view, { ...view, likely })).toEqual([`! nothing moves; likely: ${likely}`]);
});

describe('the lines of a pipe', () => {
  test('the first view is told whole, except for what has not begun', () => {
    expect(changedLines(undefined, view)).toEqual([
      '✓ assets: 41 files, 14 certificates  0.3 s',
      '▸ masters',
      '    master-0: etcd voter · waits for kube-apiserver',
      expect.stringContaining('    master-1: waiting for https://'),
      '  etcd ● bootstrap  ● master-0  ◌ master-1  · master-2',
    ]);
  });

  test('time that passes is not a change', () => {
    const later = { ...view, elapsedMs: 99_000, steps: view.steps.map((step) => ({ ...step, ms: 99_000 })) };
    expect(changedLines(view, later)).toEqual([]);
  });

  test('one changed detail is one line', () => {
    const steps = view.steps.map((step) => ({
      ...step,
      details: step.details.map((detail) => (detail.name === 'master-0' ? { ...detail, text: 'settled' } : detail)),
    }));
    expect(changedLines(view, { ...view, steps })).toEqual(['    master-0: settled']);
  });
});

test('on a pipe a detail is repeated only when its key changes', () => {
  const saying = (text: string, key: string): FrameView => ({
    ...view,
    steps: [{ name: 'masters', state: 'running', note: '', details: [{ name: 'master-0', text, key }] }],
  });
  const before = saying('asked 12 s ago', 'asked');
  expect(changedLines(before, saying('asked 13 s ago', 'asked'))).toEqual([]);
  expect(changedLines(before, saying('asked 4 peers', 'peers'))).toEqual(['    master-0: asked 4 peers']);
});

test('time is shown as on a stop watch', () => {
  expect([0, 11_430, 61_050, 723_000].map(clockTime)).toEqual(['0:00.0', '0:11.4', '1:01.0', '12:03.0']);
});

test('a step that takes long is told in minutes', () => {
  expect([300, 59_940, 599_900, 723_400].map(seconds)).toEqual(['0.3 s', '59.9 s', '599.9 s', '12:03 min']);
});
