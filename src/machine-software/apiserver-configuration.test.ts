import { expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { apiserverConfigFiles } from '../contract/machine-paths.ts';
import { hardenedSettings, type SecuritySettings } from '../contract/security-settings.ts';
import { apiserverConfiguration } from './apiserver-configuration.ts';

interface AuditRule {
  readonly level: string;
  readonly resources?: readonly { readonly group: string; readonly resources: readonly string[] }[];
}

function read(file: keyof typeof apiserverConfigFiles, settings: Partial<SecuritySettings> = {}): unknown {
  const found = apiserverConfiguration({ ...hardenedSettings, ...settings }).find(
    ({ path }) => path === apiserverConfigFiles[file],
  );
  return parseYaml(found?.text ?? '');
}

function auditRules(auditLog: SecuritySettings['auditLog']): readonly AuditRule[] {
  return (read('auditPolicy', { auditLog }) as { rules: readonly AuditRule[] }).rules;
}

test('nobody without a name gets further than the health paths', () => {
  expect(read('authentication')).toMatchObject({
    anonymous: { enabled: true, conditions: [{ path: '/livez' }, { path: '/readyz' }, { path: '/healthz' }] },
  });
});

test('only kube-system is exempt from the Pod Security levels', () => {
  expect(read('admission', { podSecurity: { enforce: 'restricted', warn: 'restricted' } })).toMatchObject({
    plugins: [
      {
        name: 'PodSecurity',
        configuration: {
          defaults: { enforce: 'restricted', audit: 'restricted', warn: 'restricted' },
          exemptions: { usernames: [], runtimeClasses: [], namespaces: ['kube-system'] },
        },
      },
    ],
  });
});

test.each(['metadata', 'request'] as const)(
  'with auditLog %s the contents of Secrets are never written',
  (auditLog) => {
    const rules = auditRules(auditLog);
    const first = rules.find(
      ({ level, resources = [] }) =>
        level !== 'None' &&
        (resources.length === 0 || resources.some((one) => one.group === '' && one.resources.includes('secrets'))),
    );
    expect(first).toMatchObject({ level: 'Metadata' });
    expect(rules.at(-1)).toEqual({ level: 'Metadata' });
  },
);

test('what was sent is written only where that was asked for', () => {
  expect(auditRules('metadata').map(({ level }) => level)).not.toContain('Request');
  expect(auditRules('request').map(({ level }) => level)).toContain('Request');
  expect(auditRules('none')).toEqual([{ level: 'None' }]);
});
