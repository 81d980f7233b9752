import { describe, expect, test } from 'vitest';
import { missingText } from '../contract/missing.ts';
import type { OperatorView, ReleaseView } from '../operators/operator-view.ts';
import { operatorsMissing } from './cluster-operators.ts';

const release: ReleaseView = {
  version: '1.0.0',
  image: 'release@sha256:1',
  isAvailable: true,
  isProgressing: false,
  isFailing: false,
  message: 'Cluster version is 1.0.0',
};
const operator = (name: string, more: Partial<OperatorView> = {}): OperatorView => ({
  name,
  version: '1.0.0',
  isAvailable: true,
  isProgressing: false,
  isDegraded: false,
  message: 'as expected',
  ...more,
});

const away = operator('storage', { isAvailable: false, message: 'Deployment storage/x is not in the cluster yet' });
const sick = operator('dns', { isDegraded: true, message: 'pod coredns-1 on worker-0 is stuck' });

describe('of a release', () => {
  test.each([
    ['nothing is missing', { release, operators: [operator('dns'), operator('etcd')] }, []],
    ['nothing is there', { release: null, operators: [] }, ['the release is not in the cluster yet']],
    [
      'the operator has not looked',
      { release: { ...release, isAvailable: false, message: 'Working towards 1.0.0' }, operators: [] },
      ['the version operator has not reported on any operator yet: Working towards 1.0.0'],
    ],
    [
      'two operators are not well',
      { release, operators: [sick, operator('etcd'), away] },
      [
        'operators 1 of 3 available',
        'dns is degraded: pod coredns-1 on worker-0 is stuck',
        'storage is not available: Deployment storage/x is not in the cluster yet',
      ],
    ],
    [
      'an object cannot be applied',
      { release: { ...release, isAvailable: false, message: 'x is not valid' }, operators: [operator('dns')] },
      ['the release is not applied: x is not valid'],
    ],
  ])('%s', (_, seen, lines) => {
    expect(operatorsMissing(seen).map(missingText)).toEqual(lines);
  });

  test('an operator that says something else of the same trouble is no movement', () => {
    const [, one] = operatorsMissing({ release, operators: [away] });
    const [, other] = operatorsMissing({ release, operators: [{ ...away, message: 'still not' }] });
    expect(one?.key).toBe(other?.key);
  });
});
