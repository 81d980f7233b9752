import { beforeEach, describe, expect, test } from 'vitest';
import { someAuthority } from '../../test/arbitrary/install-config.ts';
import { type FakeHost, fakeHost } from '../host/fake/fake-host.ts';
import { kubeconfigText } from '../kubernetes/kubeconfig.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { readSigningRequest } from '../pki/signing-request.ts';
import { makePersonKubeconfig, type PersonKubeconfigOptions, personMistake } from './person-kubeconfig.ts';

const file = '/w/auth/people/ada.kubeconfig';
const adminKubeconfig = '/w/auth/kubeconfig';
let host: FakeHost;
let filed: KubernetesObject[];

/** What becomes of a request that was approved. */
type Answer = Readonly<Record<string, unknown>>;

/** An API with one request, which is answered as soon as it is approved. */
function apiThat(answer: Answer): PersonKubeconfigOptions['client'] {
  let request: KubernetesObject | undefined;
  return {
    create: async (object: KubernetesObject) => {
      const made = { ...object, spec: { ...(object['spec'] as object), username: 'admin' } };
      request = made;
      filed.push(made);
      return made as never;
    },
    replace: async (object: KubernetesObject) => {
      const { conditions } = object['status'] as { readonly conditions: readonly object[] };
      const more = (answer['conditions'] ?? []) as readonly object[];
      request = { ...object, status: { ...answer, conditions: [...conditions, ...more] } };
      return request as never;
    },
    find: async () => request as never,
  };
}

const signed: Answer = { certificate: Buffer.from(someAuthority).toString('base64') };

function make(answer: Answer, more: Partial<PersonKubeconfigOptions> = {}) {
  const person = { name: 'ada', groups: ['developers'], lifeSeconds: 28_800 };
  const { signal } = new AbortController();
  const common = { host, clusterName: 'demo', adminKubeconfig, person, file, mayReplace: false, signal };
  return makePersonKubeconfig({ ...common, client: apiThat(answer), ...more });
}

beforeEach(async () => {
  host = fakeHost({ seed: 'person' });
  filed = [];
  await host.files.makeFolder('/w/auth');
  const server = 'https://127.0.0.1:16443';
  await host.files.write(
    adminKubeconfig,
    kubeconfigText({ cluster: 'demo', server, caPem: someAuthority, user: 'admin' }),
  );
});

describe('a kubeconfig for a person', () => {
  test('leads where that of the administrator leads, with a key of its own, for its owner alone', async () => {
    expect(await make(signed)).toMatchObject({ file, user: 'ada', groups: ['developers'] });
    const text = await host.files.readText(file);
    expect(text).toContain('server: https://127.0.0.1:16443');
    expect(text).toContain('current-context: ada@demo');
    expect(text).toContain('client-key-data: ');
    expect((await host.files.facts(file))?.mode).toBe(0o600);
  });

  test('is asked for by a request of the right signer, for a client, for so long', async () => {
    await make(signed);
    const spec = filed[0]?.['spec'] as { readonly request: string };
    expect(spec).toMatchObject({
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['digital signature', 'client auth'],
      expirationSeconds: 28_800,
    });
    const asked = readSigningRequest(Buffer.from(spec.request, 'base64').toString('utf8'));
    expect(asked.subject).toEqual({ commonName: 'ada', organizations: ['developers'] });
  });

  test.each([
    ['somebody denied', 'CLUSTER_REQUEST_DENIED', 'Denied'],
    ['the controller manager does not sign', 'CLUSTER_REQUEST_NOT_SIGNED', 'Failed'],
  ])('is not written where %s the request, and the reason is said', async (_what, code, type) => {
    const answer = { conditions: [{ type, status: 'True', message: 'because of something' }] };
    await expect(make(answer)).rejects.toMatchObject({
      code,
      message: expect.stringContaining('because of something') as string,
    });
    expect(await host.files.facts(file)).toBeUndefined();
  });

  test('is not written over another file unless that is asked for', async () => {
    await make(signed);
    const before = await host.files.readText(file);
    await expect(make(signed)).rejects.toMatchObject({ code: 'CLUSTER_FILE_EXISTS' });
    expect(await host.files.readText(file)).toBe(before);
    await make(signed, { mayReplace: true });
    expect(await host.files.readText(file)).not.toBe(before);
  });

  test.each([
    ['a part of the cluster', { name: 'system:node:worker-0', groups: [] }],
    ['an agent', { name: 'firstlight:node-agent:master-0', groups: [] }],
    ['one of system:masters', { name: 'ada', groups: ['system:masters'] }],
    ['a node', { name: 'ada', groups: ['developers', 'system:nodes'] }],
    ['a path', { name: '../admin', groups: [] }],
    ['nobody', { name: '', groups: [] }],
  ])('never says that a person is %s', async (_what, who) => {
    expect(personMistake(who)).toBeDefined();
    await expect(make(signed, { person: { ...who, lifeSeconds: 600 } })).rejects.toMatchObject({
      code: 'CLUSTER_PERSON_REFUSED',
    });
    expect(filed).toEqual([]);
  });

  test('may be that of a second administrator, whose group can be taken its rights', () => {
    expect(personMistake({ name: 'ada', groups: ['firstlight:admins'] })).toBeUndefined();
  });
});
