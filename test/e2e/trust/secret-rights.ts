// What each identity of a machine, and each account of an add-on, may do with Secrets is exactly this list: asked of the
// API's own authorizer.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type TrustCluster, trustKubectl } from './trust-cluster.ts';

const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'] as const;

interface Identity {
  readonly user: string;
  readonly groups: readonly string[];
  readonly may: readonly (typeof verbs)[number][];
  /** Where it may; in no other namespace it may anything. Default: kube-system. */
  readonly where?: readonly string[];
}

function account(namespace: string, name: string): Pick<Identity, 'user' | 'groups'> {
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
  return { user: `system:serviceaccount:${namespace}:${name}`, groups };
}

const everywhere = ['kube-system', 'default', '*'];

const identities: Readonly<Record<string, Identity>> = {
  'the agent of a master': {
    user: 'firstlight:node-agent:master-0',
    groups: ['firstlight:node-agents'],
    may: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  'the config server of a master': {
    user: 'firstlight:config-server:master-0',
    groups: ['firstlight:config-servers'],
    may: ['get', 'list', 'watch', 'create', 'patch'],
  },
  'a kubelet and the agent of a worker': { user: 'system:node:worker-0', groups: ['system:nodes'], may: [] },
  'a machine that joins': {
    user: 'system:bootstrap:abcdef',
    groups: ['system:bootstrappers', 'system:bootstrappers:nodes'],
    may: [],
  },
  'kube-proxy of a master': { user: 'system:kube-proxy', groups: [], may: [] },
  'the scheduler': { user: 'system:kube-scheduler', groups: [], may: [] },
  'kube-apiserver towards kubelets': { user: 'kube-apiserver-kubelet-client', groups: [], may: [] },
  'the version operator': {
    ...account('openshift-cluster-version', 'cluster-version-operator'),
    may: verbs,
    where: everywhere,
  },
  // An Ingress may name any Secret of its own namespace.
  'the ingress controller': {
    ...account('openshift-ingress', 'router-default'),
    may: ['get', 'list', 'watch'],
    where: everywhere,
  },
  'the provisioner of volumes': { ...account('kube-system', 'local-path-provisioner'), may: [] },
  'metrics-server': { ...account('kube-system', 'metrics-server'), may: [] },
  CoreDNS: { ...account('kube-system', 'coredns'), may: [] },
  'the registry': { ...account('openshift-image-registry', 'registry'), may: [] },
  somebody: { user: 'somebody', groups: [], may: [] },
  'a stranger': { user: 'system:anonymous', groups: ['system:unauthenticated'], may: [] },
};

/** `kube-system get`, `* list`: what the authorizer lets this identity do. */
async function allowed(cluster: TrustCluster, { user, groups }: Identity): Promise<readonly string[]> {
  const known = user === 'system:anonymous' ? [] : ['system:authenticated'];
  // Without a namespace: in all of them.
  const reviews = ['kube-system', 'default', undefined].flatMap((namespace) =>
    verbs.map((verb) => ({
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: {
        user,
        groups: [...groups, ...known],
        resourceAttributes: { verb, resource: 'secrets', ...(namespace === undefined ? {} : { namespace }) },
      },
    })),
  );
  const path = join(cluster.folder, 'reviews.json');
  writeFileSync(path, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: reviews }));
  const each = 'jsonpath={.spec.resourceAttributes.namespace} {.spec.resourceAttributes.verb} {.status.allowed}{"\\n"}';
  const answers = (await trustKubectl(cluster, 'create', '-f', path, '-o', each)).trim().split('\n');
  expect(answers).toHaveLength(reviews.length);
  return answers.filter((line) => line.endsWith(' true')).map((line) => line.replace(/ true$/, '').replace(/^ /, '* '));
}

export function secretRightsTopic(cluster: TrustCluster): void {
  test.each(Object.entries(identities))('%s', async (_name, identity) => {
    const { may, where = ['kube-system'] } = identity;
    expect(await allowed(cluster, identity)).toEqual(where.flatMap((place) => may.map((verb) => `${place} ${verb}`)));
  });
}
