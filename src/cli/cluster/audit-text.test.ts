import { expect, test } from 'vitest';
import { countResults, type JudgedControl } from '../../audit/audit.ts';
import { auditText } from './audit-text.ts';

const text = { why: 'Why.', remedy: 'Do this.' };
const controls: readonly JudgedControl[] = [
  { ...text, area: 'etcd', id: '2.1', title: 'etcd serves with a certificate', result: 'pass' },
  {
    ...text,
    area: 'etcd',
    id: '2.2',
    title: 'etcd demands a certificate',
    result: 'fail',
    findings: Array.from({ length: 8 }, (_, index) => ({ where: `master-${index}`, seen: 'it does not' })),
  },
  { ...text, area: 'nodes', id: '4.1.5', title: 'kubeconfig', result: 'unknown', reason: 'worker-0: it does not run' },
  { ...text, area: 'nodes', id: '4.2.7', title: 'name', result: 'not-applicable', reason: 'it is the same' },
];

function shown(some: readonly JudgedControl[], showsAll = false): readonly string[] {
  const report = { controls: some, counts: countResults(some), isWell: some.every(({ result }) => result === 'pass') };
  return auditText({ benchmark: 'B', cluster: 'demo', machines: 4, report, showsAll }).split('\n');
}

test('what fails or does not apply stands below its area with the reason, and the last line says what to mend', () => {
  expect(shown(controls)).toEqual([
    'B · demo · 4 machines, the API, the asset folder',
    '',
    '2 etcd                            1 pass, 1 fail',
    '  ✗ 2.2    etcd demands a certificate',
    ...[0, 1, 2, 3, 4, 5].map((index) => `           master-${index}: it does not`),
    '           and 2 more',
    '           → Do this.',
    '',
    '4 Nodes                           1 unknown, 1 not applicable',
    '  ? 4.1.5  kubeconfig',
    '           unknown: worker-0: it does not run',
    '           → Do this.',
    '  – 4.2.7  name',
    '           not applicable: it is the same',
    '',
    '4 controls: 1 pass, 1 fail, 1 unknown, 1 not applicable',
    'to mend: 2.2, 4.1.5',
    '',
  ]);
});

test('controls that pass are counted, and listed only when asked for', () => {
  expect(shown(controls.slice(0, 1))).not.toContain('  ✓ 2.1    etcd serves with a certificate');
  expect(shown(controls.slice(0, 1), true)).toContain('  ✓ 2.1    etcd serves with a certificate');
});
