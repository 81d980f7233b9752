import { expect, test } from 'vitest';
import { nodeEnvironmentText, parseNodeEnvironment } from './node-environment.ts';

test('what is written is what is read', () => {
  const machine = { name: 'master-0', addresses: ['10.99.0.11', 'fd00::11'] };
  expect(nodeEnvironmentText(machine)).toBe('NODE_NAME=master-0\nNODE_IP=10.99.0.11,fd00::11\n');
  expect(parseNodeEnvironment(nodeEnvironmentText(machine))).toEqual(machine);
});

test('a file that says nothing names nobody', () => {
  expect(parseNodeEnvironment('NODE_IP=\n')).toEqual({ name: '', addresses: [] });
});
