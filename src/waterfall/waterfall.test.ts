// The rows of a real run, recorded on a busy host: three masters (one left out of the recording) and a worker.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { RunRecord } from './run-record.ts';
import { waterfallOf } from './waterfall.ts';
import { longestSteps, type Waterfall } from './waterfall-rows.ts';
import { waterfallSvg } from './waterfall-svg.ts';
import { waterfallText } from './waterfall-text.ts';

const recorded = JSON.parse(readFileSync('test/golden/run.json', 'utf8')) as RunRecord;
const waterfall = waterfallOf(recorded, 'create cluster · sample');

function rows(of: Waterfall, group: string): readonly string[] {
  const found = of.groups.find(({ name }) => name === group)?.rows ?? [];
  return found.map(({ label, fromMs, toMs }) => {
    const took = toMs === undefined ? 'goes on' : ((toMs - fromMs) / 1000).toFixed(1);
    return `${label} ${(fromMs / 1000).toFixed(1)} ${took}`;
  });
}

describe('the waterfall of a recorded run', () => {
  test('shows the command, each machine and the load balancer, in that order', () => {
    expect(waterfall.groups.map(({ name }) => name)).toEqual([
      'create cluster',
      'bootstrap',
      'master-0',
      'master-1',
      'worker-0',
      'load balancer',
    ]);
    expect(rows(waterfall, 'create cluster').at(-1)).toBe('nodes 70.6 0.1');
    expect(waterfall.totalMs).toBe(70_673);
  });

  test('every step of a master has its row, and every row its end', () => {
    expect(rows(waterfall, 'master-0')).toEqual([
      'systemd 16.2 0.5',
      'waits for config 16.7 3.6',
      'first boot 20.3 1.9',
      'containerd 22.9 0.6',
      'kubelet 23.5 1.2',
      'agent starts 22.9 1.8',
      'keys, certificates 25.7 0.2',
      'waits for the API 24.7 2.4',
      'kubelet joins 24.7 14.1',
      'node gets Ready 38.8 15.8',
      'waits to be member 27.0 2.9',
      'etcd container 29.9 1.0',
      'learner, then voter 30.9 8.7',
      'API container 40.4 1.1',
      'API gets ready 41.4 5.3',
      'kube-proxy 27.4 0.0',
    ]);
  });

  test('the bootstrap machine is there although it is gone, from its systemd to the end of its secrets', () => {
    const own = rows(waterfall, 'bootstrap');
    expect(own).toContain('stops its API 48.7 9.5');
    expect(own.at(0)).toBe('systemd 16.2 0.5');
    expect(own.at(-1)).toBe('removes secrets 69.0 1.2');
    expect(own.join('\n')).not.toContain('goes on');
  });

  test('the load balancer leaves the bootstrap machine after it has taken up masters', () => {
    expect(rows(waterfall, 'load balancer')).toEqual(
      expect.arrayContaining(['6443 bootstrap 26.4 22.7', '6443 master-0 46.7 goes on']),
    );
  });

  test('names what took longest, each kind of step once', () => {
    expect(longestSteps(waterfall, 3).map(({ label, group }) => `${label}, ${group}`)).toEqual([
      'node gets Ready, master-1',
      'kubelet joins, master-0',
      'waits for the API, worker-0',
    ]);
  });

  test('of a run that still goes on, what has begun is shown as going on', () => {
    const cutMs = Math.min(...recorded.moments.map(({ atMs }) => atMs)) + 45_000;
    const moments = recorded.moments.filter(
      ({ atMs, machine, state, step }) =>
        atMs <= cutMs && !(machine === 'create cluster' && step === 'masters' && state === 'began'),
    );
    expect(rows(waterfallOf({ ...recorded, moments }, 'x'), 'bootstrap').at(-1)).toBe('two masters serve 40.9 goes on');
  });

  test('a record without any moment is an empty waterfall', () => {
    expect(waterfallOf({ ...recorded, moments: [] }, 'x').groups).toEqual([]);
  });
});

describe('on a terminal', () => {
  const text = waterfallText(waterfall);

  test('no line is wider than 80 columns, and there is no colour', () => {
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    expect(text).not.toContain('\u001B');
  });

  test('bars begin where their time begins', () => {
    const lines = text.split('\n');
    expect(lines.find((line) => line.includes('stops its API'))).toBe(
      '  stops its API                                   ███████          48.7    9.5 s',
    );
    expect(lines[2]).toBe('                      0          20          40          60         start   took');
  });
});

test('the picture is one well-formed element with a bar for every row', () => {
  const svg = waterfallSvg({ ...waterfall, title: 'a <b> & c' });
  const count = waterfall.groups.reduce((sum, { rows: own }) => sum + own.length, 0);
  const legend = 4;
  expect(svg.match(/<rect class="(work|wait|span|state)"/g)).toHaveLength(count + legend);
  expect(svg).toContain('a &lt;b&gt; &amp; c');
  expect(svg.match(/<svg/g)).toHaveLength(1);
  expect(svg).not.toMatch(/NaN|undefined/);
});
