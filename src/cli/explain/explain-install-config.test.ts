import { expect, test } from 'vitest';
import { fakeHost } from '../../host/fake/fake-host.ts';
import { explainJsonSchema, showInstallConfigField } from './explain-install-config.ts';

test('explain prints kind, type, description, fields and rules within 80 columns', () => {
  const { text } = showInstallConfigField({ host: fakeHost() }, 'installconfig.networking.clusterNetwork');
  expect(text.split('\n').slice(0, 14)).toEqual([
    'KIND:    InstallConfig',
    'VERSION: v1',
    'FIELD:   installconfig.networking.clusterNetwork <[]object>',
    '',
    '  Where pods have their addresses, and how much of it each node gets.',
    '  Default: [{"cidr":"10.128.0.0/14","hostPrefix":23}]',
    '',
    'FIELDS:',
    '  cidr <string> -required-',
    '    The range that all pods share.',
    '  hostPrefix <integer>',
    '    Default: 23',
    '    Allowed: 8 to 30',
    '    The size of the piece each node gets, as a prefix length: 23 gives a node',
  ]);
  expect(text).toContain('\nRULES:\n  The ranges of machines, pods and Services do not overlap.\n');
  expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
});

test('the JSON Schema is the data and the text', () => {
  const { data, text } = explainJsonSchema({ host: fakeHost() });
  expect(JSON.parse(text)).toEqual(data);
});
