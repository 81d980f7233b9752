import { describe, expect, test } from 'vitest';
import { someAuthority } from '../../test/arbitrary/install-config.ts';
import { mistakeLines } from '../source-text/mistake.ts';
import { issuersOf } from './cluster-facts.ts';
import { checkInstallConfig } from './parse.ts';

const issuer = { url: 'https://login.example.test/realms/staff', audiences: ['kubernetes'] };
const claimMappings = { username: { claim: 'sub', prefix: 'oidc:' } };

function check(jwt: object) {
  return checkInstallConfig(`authentication: ${JSON.stringify({ jwt: [jwt] })}`, {
    file: 'install-config.yaml',
    architecture: 'amd64',
  });
}

function said(jwt: object): string {
  const checked = check(jwt);
  return checked.status === 'mistaken' ? mistakeLines(checked.mistakes).join('\n') : '';
}

describe('an issuer of tokens', () => {
  test('with everything that Kubernetes knows of it is taken as it is', () => {
    const whole = {
      issuer: { ...issuer, certificateAuthority: someAuthority, discoveryURL: 'https://intern.example.test/d' },
      claimValidationRules: [
        { claim: 'hd', requiredValue: 'staff' },
        { expression: 'claims.exp > 0', message: 'no' },
      ],
      claimMappings: {
        ...claimMappings,
        groups: { expression: 'claims.roles.split(",")' },
        uid: { claim: 'sub' },
        extra: [{ key: 'example.test/team', valueExpression: 'claims.team' }],
      },
      userValidationRules: [{ expression: "user.username.endsWith('x')" }],
    };
    const checked = check(whole);
    expect(checked.status === 'valid' ? issuersOf(checked.config) : checked.mistakes).toEqual({ jwt: [whole] });
  });

  test.each([
    ['http', 'http://login.example.test', 'does not begin with https://'],
    ['a password', 'https://me:secret@login.example.test', 'has a user or a password in it'],
    ['a query', 'https://login.example.test?x=1', 'has a query'],
    ['a fragment', 'https://login.example.test#x', 'has a fragment'],
    ['the issuer of pods', 'https://kubernetes.default.svc.cluster.local', 'is the issuer of the cluster’s own tokens'],
  ])('is refused with %s, and the field is named', (_what, url, words) => {
    const text = said({ issuer: { ...issuer, url }, claimMappings });
    expect(text).toContain('authentication.jwt[0].issuer.url');
    expect(text).toContain(words);
  });

  test.each([
    ['no audience', { issuer: { url: issuer.url, audiences: [] }, claimMappings }, 'audiences'],
    ['no name for people', { issuer, claimMappings: {} }, 'username'],
    ['a key for an authority', { issuer: { ...issuer, certificateAuthority: 'x' }, claimMappings }, 'PEM'],
    [
      'an extra key of Kubernetes',
      { issuer, claimMappings: { ...claimMappings, extra: [{ key: 'a.k8s.io/b', valueExpression: 'x' }] } },
      'is in a domain of Kubernetes',
    ],
    ['a field that nobody knows', { issuer, claimMappings, claimMapping: {} }, 'claimMapping'],
  ])('is refused with %s', (_what, jwt, words) => {
    expect(said(jwt)).toContain(words);
  });
});

test('without issuers nothing is said to machines', () => {
  const checked = checkInstallConfig('', { file: 'install-config.yaml', architecture: 'amd64' });
  expect(checked.status === 'valid' ? issuersOf(checked.config) : checked).toBeUndefined();
});
