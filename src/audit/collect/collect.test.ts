import { expect, test } from 'vitest';
import { fakeHost } from '../../host/fake/fake-host.ts';
import { issueSigner } from '../../pki/issue.ts';
import { signerProfiles } from '../../pki/profiles.ts';
import { collectFolder } from './folder-facts.ts';
import { auditedPod } from './pod-facts.ts';

const pod = (spec: object, metadata: object = {}): Parameters<typeof auditedPod>[0] => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'shop', ...metadata },
  spec: { nodeName: 'worker-0', containers: [{ name: 'web' }], ...spec },
});

test('a pod that says nothing may gain privileges, may be root, and has a token', () => {
  const { containers, ...rest } = auditedPod(pod({}), []);
  expect(rest).toMatchObject({ serviceAccount: 'default', mountsToken: true, hostNetwork: false, hostPaths: [] });
  expect(containers).toMatchObject([{ mayEscalate: true, runAsNonRoot: false, hasSecurityContext: false }]);
});

test('a container has what its pod says where it says nothing itself', () => {
  const ofPod = { runAsUser: 1000, runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } };
  const own = { name: 'side', securityContext: { runAsUser: 0, seccompProfile: { type: 'Unconfined' } } };
  const { containers } = auditedPod(pod({ securityContext: ofPod, initContainers: [own] }), []);
  expect(containers).toMatchObject([
    { name: 'web', runAsUser: 1000, runAsNonRoot: true, seccompProfile: 'RuntimeDefault', hasSecurityContext: true },
    { name: 'side', runAsUser: 0, seccompProfile: 'Unconfined' },
  ]);
});

test('the account decides about the token where the pod does not', () => {
  const accounts = [{ namespace: 'shop', name: 'quiet', mountsToken: false }];
  expect(auditedPod(pod({ serviceAccountName: 'quiet' }), accounts).mountsToken).toBe(false);
  const asked = { serviceAccountName: 'quiet', automountServiceAccountToken: true };
  expect(auditedPod(pod(asked), accounts).mountsToken).toBe(true);
});

test('only a pod that a kubelet made from a file counts as one of the control plane', () => {
  const hash = { 'kubernetes.io/config.hash': 'abc' };
  const mirror = { ...hash, 'kubernetes.io/config.mirror': 'abc' };
  expect(auditedPod(pod({}, { annotations: mirror }), []).staticUid).toBe('abc');
  expect(auditedPod(pod({}, { annotations: hash }), []).staticUid).toBeUndefined();
});

test('the asset folder: what files hold and when certificates end, and nothing of keys', async () => {
  const host = fakeHost();
  const issuing = { random: host.random, now: host.clock.now() };
  const { certificatePem, key } = issueSigner(signerProfiles['root-ca'], issuing);
  await host.files.makeFolder('/c/tls', { mode: 0o700 });
  await host.files.makeFolder('/c/.firstlight', { mode: 0o700 });
  await host.files.write('/c/tls/root-ca.crt', certificatePem);
  await host.files.write('/c/tls/root-ca.key', key.privatePem.reveal(), { mode: 0o600 });
  await host.files.write('/c/master.ign', '{}', { mode: 0o600 });
  await host.files.write('/c/.firstlight/journal', 'secret words');
  const entries = await collectFolder(host.files, '/c');
  const found = new Map(entries.map((entry) => [entry.path, entry]));
  expect([...found.keys()].sort()).toEqual([
    '.',
    '.firstlight',
    'master.ign',
    'tls',
    'tls/root-ca.crt',
    'tls/root-ca.key',
  ]);
  expect(found.get('tls/root-ca.key')).toEqual({
    path: 'tls/root-ca.key',
    kind: 'file',
    mode: 0o600,
    uid: 0,
    holds: 'key',
  });
  expect(found.get('tls/root-ca.crt')).toMatchObject({
    holds: 'certificate',
    notAfter: expect.stringMatching(/^2035-/),
  });
  expect(found.get('master.ign')).toMatchObject({ holds: 'ignition' });
});
