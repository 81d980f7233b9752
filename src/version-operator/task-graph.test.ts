import { describe, expect, test } from 'vitest';
import type { PayloadTask } from './payload.ts';
import { type OperatorState, taskGraph } from './task-graph.ts';

function task(level: number, component: string, name: string, kind = 'ConfigMap'): PayloadTask {
  const apiVersion = kind === 'Job' ? 'batch/v1' : 'v1';
  return { source: name, level, component, object: { apiVersion, kind, metadata: { name } } };
}

const tasks = [
  task(0, 'dns', 'a'),
  task(20, 'etcd', 'b'),
  task(20, 'api', 'c'),
  task(20, 'etcd', 'd'),
  task(70, 'dns', 'e'),
];
const names = (given: readonly PayloadTask[], state: OperatorState, attempt = 0): readonly string[] =>
  taskGraph(given, { state, attempt }).map((step) =>
    step.map((chain) => chain.map(({ source }) => source).join('>')).join(' '),
  );

describe('the graph', () => {
  test('has one chain per component and one step while initializing', () => {
    expect(names(tasks, 'Initializing')).toEqual(['a>e b>d c']);
  });

  test('has one step per level while updating, and a chain per component in it', () => {
    expect(names(tasks, 'Updating')).toEqual(['a', 'b>d c', 'e']);
  });

  test('has every task alone while reconciling, in an order that differs and comes again', () => {
    const orders = [0, 1, 7, 8, 9].map((attempt) => names(tasks, 'Reconciling', attempt).join());
    for (const order of orders) expect(order.split(' ').toSorted().join(' ')).toBe('a b c d e');
    expect(names(tasks, 'Reconciling', 8).join()).toBe(orders[3]);
    expect(new Set(orders).size).toBeGreaterThan(2);
  });

  test('begins eight passes at eight places of the same circle', () => {
    const many = Array.from({ length: 16 }, (_, at) => task(50, 'x', `t${at}`));
    const [first = [], ...others] = [0, 1, 2, 3, 4, 5, 6, 7].map((attempt) =>
      names(many, 'Reconciling', attempt)[0]?.split(' '),
    );
    others.forEach((order = [], at) => {
      const start = 2 * (at + 1);
      expect(order).toEqual([...first.slice(start), ...first.slice(0, start)]);
    });
  });

  test('has a Job alone between what comes before and what comes after', () => {
    const withJob = [
      task(0, 'a', '1'),
      task(0, 'b', '2'),
      task(0, 'a', 'job', 'Job'),
      task(0, 'a', '3'),
      task(0, 'b', '4'),
    ];
    expect(names(withJob, 'Initializing')).toEqual(['1 2', 'job', '3 4']);
    expect(names(withJob, 'Updating')).toEqual(['1 2', 'job', '3 4']);
    expect(names([task(0, 'a', 'job', 'Job')], 'Initializing')).toEqual(['job']);
    expect(names([], 'Initializing')).toEqual([]);
  });
});
