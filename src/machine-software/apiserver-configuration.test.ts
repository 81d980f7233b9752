import { expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { type AuthenticationSettings, noIssuers } from '../contract/authentication-settings.ts';
import { apiserverConfigFiles } from '../contract/machine-paths.ts';
import { hardenedSettings, type SecuritySettings } from '../contract/security-settings.ts';
import { apiserverConfiguration } from './apiserver-configuration.ts';

interface AuditRule {
  readonly level: string;
  readonly resources?: readonly { readonly group: string; readonly resources: readonly string[] }[];
}

function read(
  file: keyof typeof apiserverConfigFiles,
  settings: Partial<SecuritySettings> = {},
  authentication: AuthenticationSettings = noIssuers,
): unknown {
  const found = apiserverConfiguration({ ...hardenedSettings, ...settings }, authentication).find(
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

test('issuers are passed on as they are, and no issuer may give names of the cluster itself', () => {
  const issuer = {
    issuer: { url: 'https://login.example.test', audiences: ['kubernetes'] },
    claimMappings: { username: { claim: 'sub', prefix: '' }, groups: { claim: 'groups', prefix: '' } },
  };
  const own = { expression: "!user.username.startsWith('system:')" };
  const rules = [
    { expression: "!user.username.startsWith('system:')", message: expect.any(String) as string },
    { expression: "user.groups.all(group, !group.startsWith('system:'))", message: expect.any(String) as string },
  ];
  expect(read('authentication', {}, { jwt: [issuer] })).toMatchObject({
    jwt: [{ ...issuer, userValidationRules: rules }],
  });
  // kube-apiserver refuses an expression that is there twice.
  expect(read('authentication', {}, { jwt: [{ ...issuer, userValidationRules: [own] }] })).toMatchObject({
    jwt: [{ userValidationRules: [own, rules[1]] }],
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
