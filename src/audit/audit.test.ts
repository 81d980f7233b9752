// The facts are those of a real cluster that create cluster had just made, cut to one master and one worker.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { audit } from './audit.ts';
import type { ApiSecurity, AuditedMachine, AuditedPod, AuditedSubject, AuditFacts, KubeletSettings } from './facts.ts';
import type { AuditedProgram, ObservedProcess, SecurityFacts } from './inside/security-facts.ts';

const captured = JSON.parse(readFileSync('test/golden/audit-facts.json', 'utf8')) as AuditFacts & { now: string };
const fresh: AuditFacts = { ...captured, now: new Date(captured.now) };

const failing = (facts: AuditFacts): readonly string[] =>
  audit(facts)
    .controls.filter(({ result }) => result === 'fail' || result === 'unknown')
    .map(({ id }) => id);

function onMachine(name: string, change: (machine: AuditedMachine) => AuditedMachine): AuditFacts {
  return { ...fresh, machines: fresh.machines.map((machine) => (machine.name === name ? change(machine) : machine)) };
}

function inside(name: string, change: (security: SecurityFacts) => Partial<SecurityFacts>): AuditFacts {
  return onMachine(name, (machine) => {
    if (machine.security.status === 'unseen') throw new Error(`${name} was not seen`);
    const { value } = machine.security;
    return { ...machine, security: { status: 'seen', value: { ...value, ...change(value) } } };
  });
}

function process(program: AuditedProgram, change: (process: ObservedProcess) => Partial<ObservedProcess>): AuditFacts {
  return inside('master-0', ({ processes }) => ({
    processes: processes.map((each) => (each.program === program ? { ...each, ...change(each) } : each)),
  }));
}

function flag(program: AuditedProgram, name: string, value: string | undefined): AuditFacts {
  return process(program, ({ arguments: args }) => ({
    arguments: [
      ...args.filter((argument) => argument.split('=', 1)[0] !== `--${name}`),
      ...(value === undefined ? [] : [`--${name}=${value}`]),
    ],
  }));
}

function kubelet(change: Partial<KubeletSettings>): AuditFacts {
  return onMachine('worker-0', (machine) => {
    if (machine.kubelet.status === 'unseen') throw new Error('the kubelet was not seen');
    return { ...machine, kubelet: { status: 'seen', value: { ...machine.kubelet.value, ...change } } };
  });
}

function api(change: (api: ApiSecurity) => Partial<ApiSecurity>): AuditFacts {
  if (fresh.api.status === 'unseen') throw new Error('the API was not seen');
  return { ...fresh, api: { status: 'seen', value: { ...fresh.api.value, ...change(fresh.api.value) } } };
}

const user: AuditedPod = {
  name: 'web',
  namespace: 'shop',
  node: 'worker-0',
  serviceAccount: 'web',
  mountsToken: false,
  hostNetwork: false,
  hostPid: false,
  hostIpc: false,
  hostPaths: [],
  containers: [
    {
      name: 'web',
      isPrivileged: false,
      mayEscalate: false,
      runAsNonRoot: true,
      addedCapabilities: [],
      droppedCapabilities: ['ALL'],
      hostPorts: [],
      isHostProcess: false,
      hasSecurityContext: true,
      secretVariables: [],
    },
  ],
};

function pod(change: Partial<AuditedPod>, container: Partial<AuditedPod['containers'][number]> = {}): AuditFacts {
  const containers = user.containers.map((each) => ({ ...each, ...container }));
  return api(({ pods }) => ({ pods: [...pods, { ...user, containers, ...change }] }));
}

const everybody = { kind: 'Group', name: 'system:authenticated' } as const;

function bound(role: string, subject: AuditedSubject): AuditFacts {
  return api(({ bindings }) => ({
    bindings: [...bindings, { name: 'weak', role: { kind: 'ClusterRole', name: role }, subjects: [subject] }],
  }));
}

const allowed = (verbs: readonly string[], group: string, resource: string): AuditFacts =>
  api(({ bindings, roles }) => ({
    roles: [...roles, { name: 'weak', rules: [{ verbs, apiGroups: [group], resources: [resource] }] }],
    bindings: [...bindings, { name: 'weak', role: { kind: 'ClusterRole', name: 'weak' }, subjects: [everybody] }],
  }));

const folder = (path: string, change: Partial<AuditFacts['folder'][number]>): AuditFacts => ({
  ...fresh,
  folder: fresh.folder.map((entry) => (entry.path === path ? { ...entry, ...change } : entry)),
});

test('a fresh cluster has no failure', () => {
  expect(failing(fresh)).toEqual([]);
});

const weaknesses: readonly (readonly [ids: string, what: string, facts: AuditFacts])[] = [
  [
    '1.1.1',
    'a pod file that others read',
    inside('master-0', ({ staticPods }) => ({
      staticPods: staticPods.map((file) =>
        file.containers.includes('kube-apiserver') ? { ...file, mode: 0o644 } : file,
      ),
    })),
  ],
  [
    '1.1.12',
    'data of etcd that belong to a stranger',
    process('etcd', ({ files }) => ({
      files: files.map((file) => (file.flag === 'data-dir' ? { ...file, uid: 1000 } : file)),
    })),
  ],
  [
    '1.1.21',
    'a key that others read',
    inside('master-0', ({ credentials }) => ({
      credentials: [...credentials, { path: '/etc/kubernetes/pki/x', mode: 0o640, uid: 0, gid: 0, holds: 'key' }],
    })),
  ],
  [
    '1.2.1',
    'anonymous requests everywhere',
    process('kube-apiserver', ({ settings: { authentication: _a, ...rest } }) => ({ settings: rest })),
  ],
  ['1.2.2', 'tokens from a file', flag('kube-apiserver', 'token-auth-file', '/tokens')],
  ['1.2.6 1.2.7 1.2.8', 'everything allowed', flag('kube-apiserver', 'authorization-mode', 'AlwaysAllow')],
  [
    '1.2.11',
    'a kubelet that gives private images to everybody',
    kubelet({ imagePullCredentialsVerificationPolicy: 'NeverVerify' }),
  ],
  ['1.2.15', 'profiling of kube-apiserver', flag('kube-apiserver', 'profiling', undefined)],
  ['1.2.20', 'requests that never end', flag('kube-apiserver', 'request-timeout', '2h')],
  [
    '1.2.28',
    'Secrets in clear',
    process('kube-apiserver', ({ settings }) => ({
      settings: { ...settings, encryption: [{ resources: ['secrets'], providers: ['identity', 'secretbox'] }] },
    })),
  ],
  [
    '1.2.29',
    'a suite without forward secrecy',
    flag('kube-apiserver', 'tls-cipher-suites', 'TLS_RSA_WITH_AES_128_GCM_SHA256'),
  ],
  ['1.3.7', 'a controller manager for everybody', flag('kube-controller-manager', 'bind-address', '0.0.0.0')],
  ['1.4.1', 'profiling of kube-scheduler', flag('kube-scheduler', 'profiling', 'true')],
  ['2.2', 'etcd without certificates of clients', flag('etcd', 'client-cert-auth', undefined)],
  [
    '2.7',
    'one authority for etcd and the API',
    process('etcd', ({ files }) => ({
      files: files.map((file) => (file.flag === 'trusted-ca-file' ? { ...file, digest: clientAuthority() } : file)),
    })),
  ],
  ['3.1.2', 'a token that never ends', api(() => ({ lastingTokens: [{ namespace: 'shop', name: 'robot' }] }))],
  [
    '3.1.3',
    'a token for joining that makes an administrator',
    api(() => ({ bootstrapTokens: [{ name: 't', hasExpiration: true, groups: ['system:masters'] }] })),
  ],
  [
    '3.2.2',
    'an audit policy that leaves changes out',
    process('kube-apiserver', ({ settings }) => ({
      settings: { ...settings, auditPolicy: { rules: [{ level: 'None', verbs: ['delete'] }, { level: 'Metadata' }] } },
    })),
  ],
  [
    '3.2.2',
    'an audit policy that writes secrets',
    process('kube-apiserver', ({ settings }) => ({
      settings: { ...settings, auditPolicy: { rules: [{ level: 'RequestResponse' }] } },
    })),
  ],
  [
    '4.1.1',
    'a unit that others write',
    inside('worker-0', ({ kubeletUnitFiles }) => ({
      kubeletUnitFiles: kubeletUnitFiles.map((file) => ({ ...file, mode: 0o664 })),
    })),
  ],
  [
    '4.2.1',
    'a kubelet for strangers',
    kubelet({
      authentication: { anonymous: { enabled: true }, x509: { clientCAFile: '/etc/kubernetes/kubelet-ca.crt' } },
    }),
  ],
  ['4.2.4', 'the read-only port', kubelet({ readOnlyPort: 10_255 })],
  ['4.2.13', 'no limit of processes', kubelet({ podPidsLimit: -1 })],
  ['5.1.1', 'everybody an administrator', bound('cluster-admin', everybody)],
  ['5.1.2', 'everybody reads Secrets', allowed(['list'], '', 'secrets')],
  ['5.1.4', 'everybody makes pods', allowed(['create'], '', 'pods')],
  ['5.1.10', 'everybody reaches kubelets', allowed(['get'], '', 'nodes/*')],
  [
    '5.1.5',
    'rights of an account default',
    bound('view', { kind: 'ServiceAccount', name: 'default', namespace: 'shop' }),
  ],
  ['5.1.6', 'a token without rights', pod({ mountsToken: true })],
  ['5.1.7', 'the group that nobody can take back', folder('auth/kubeconfig', { organizations: ['system:masters'] })],
  [
    '5.2.1',
    'a namespace without limits',
    api(({ namespaces }) => ({ namespaces: [...namespaces, { name: 'weak', enforce: 'privileged' }] })),
  ],
  ['5.2.3', 'a pod among the processes of its node', pod({ hostPid: true })],
  ['5.2.7', 'a container as root', pod({}, { runAsNonRoot: false })],
  ['5.2.11', 'files of the node', pod({ hostPaths: ['/'] })],
  ['5.3.1', 'a network that ignores policies and says nothing', api(() => ({ networkPolicyAnswers: [] }))],
  ['5.4.1', 'a Secret in a variable', pod({}, { secretVariables: ['password'] })],
  ['5.6.2', 'a pod without seccomp', pod({}, { seccompProfile: 'Unconfined' })],
  ['5.6.4', 'a pod in default', pod({ namespace: 'default' })],
  ['F.1', 'a folder of secrets that others enter', folder('tls', { mode: 0o755 })],
  ['F.2', 'an Ignition config that others read', folder('master.ign', { mode: 0o644 })],
  ['F.3', 'a file of somebody else', folder('metadata.json', { uid: 1000 })],
  ['F.4', 'a certificate near its end', folder('tls/root-ca.crt', { notAfter: captured.now })],
];

function clientAuthority(): string {
  const [security] = fresh.machines.flatMap((machine) =>
    machine.security.status === 'seen' ? [machine.security.value] : [],
  );
  const apiserver = security?.processes.find(({ program }) => program === 'kube-apiserver');
  return apiserver?.files.find((file) => file.flag === 'client-ca-file')?.digest ?? 'none';
}

describe('a weakness shows as exactly its controls', () => {
  test.each(weaknesses)('%s: %s', (ids, _what, facts) => {
    expect(failing(facts)).toEqual(ids.split(' '));
  });
});

const rootOnNode = [
  { namespace: 'ipb-system', hostPid: true, hostNetwork: true, hostPaths: ['/'] },
  { isPrivileged: true, mayEscalate: true, runAsNonRoot: false, droppedCapabilities: [] },
] as const;

test('the namespace and the pod of the in-place bootstrapper are no weakness', () => {
  const labelled = api(({ namespaces }) => ({
    namespaces: [...namespaces, { name: 'ipb-system', enforce: 'privileged' }],
  }));
  expect(failing(labelled)).toEqual([]);
  const [change, container] = rootOnNode;
  expect(failing(pod({ ...change, serviceAccount: 'ipb' }, container))).toEqual([]);
});

test('another pod of that namespace with the same rights is one', () => {
  const [change, container] = rootOnNode;
  expect(failing(pod({ ...change, serviceAccount: 'stranger' }, container))).toEqual(
    expect.arrayContaining(['5.2.2', '5.2.3', '5.2.5', '5.2.11']),
  );
});

const ofVersionOperator = { namespace: 'openshift-cluster-version', name: 'cluster-version-operator' } as const;

test('the version operator on the network of its node, as an administrator, is no weakness', () => {
  const { namespace, name } = ofVersionOperator;
  expect(failing(pod({ namespace, serviceAccount: name, hostNetwork: true }))).toEqual([]);
  expect(failing(bound('cluster-admin', { kind: 'ServiceAccount', ...ofVersionOperator }))).toEqual([]);
  const labelled = api(({ namespaces }) => ({
    namespaces: [...namespaces, { name: namespace, enforce: 'privileged' }],
  }));
  expect(failing(labelled)).toEqual([]);
});

test('with more than that, or under another name or in another namespace, it is one', () => {
  const { namespace, name } = ofVersionOperator;
  expect(failing(pod({ namespace, serviceAccount: name, hostPaths: ['/'] }))).toEqual(['5.2.11']);
  expect(failing(pod({ namespace, serviceAccount: 'stranger', hostNetwork: true }))).toEqual(['5.2.5']);
  expect(failing(pod({ namespace: 'shop', serviceAccount: name, hostNetwork: true }))).toEqual(['5.2.5']);
  const admin = (subject: object): readonly string[] =>
    failing(bound('cluster-admin', { kind: 'ServiceAccount', ...ofVersionOperator, ...subject }));
  expect([admin({ name: 'stranger' }), admin({ namespace: 'shop' }), admin({ kind: 'User' })]).toEqual(
    Array.from({ length: 3 }, () => ['5.1.1']),
  );
});

test('a machine that does not answer makes its controls unknown, and that is no success', () => {
  const facts = onMachine('worker-0', (machine) => ({
    ...machine,
    security: { status: 'unseen', isPossible: true, reason: 'it does not run' },
  }));
  const { controls, isWell } = audit(facts);
  expect(isWell).toBe(false);
  expect(controls.find(({ id }) => id === '4.1.5')).toMatchObject({
    result: 'unknown',
    reason: 'worker-0: it does not run',
  });
});

test('where nobody can look into machines, the API shows flags, and what only a machine shows does not apply', () => {
  const closed = { status: 'unseen', isPossible: false, reason: 'platform none gives no way into a machine' } as const;
  const facts = { ...fresh, machines: fresh.machines.map((machine) => ({ ...machine, security: closed })) };
  const { controls, isWell } = audit(facts);
  const results = new Map(controls.map((control) => [control.id, control.result]));
  expect(isWell).toBe(true);
  for (const id of ['1.1.1', '1.2.1', '1.2.28', '2.7', '4.1.5'])
    expect([id, results.get(id)]).toEqual([id, 'not-applicable']);
  for (const id of ['1.2.15', '2.2', '3.2.1', '4.2.1', '5.1.1']) expect([id, results.get(id)]).toEqual([id, 'pass']);
});

test('a process of a user is not taken for the one of the control plane', () => {
  const facts = inside('master-0', ({ processes }) => ({
    processes: [
      ...processes,
      ...processes
        .filter(({ program }) => program === 'kube-scheduler')
        .map((each) => ({
          ...each,
          pid: 99_999,
          pod: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
          arguments: ['--profiling=true'],
        })),
    ],
  }));
  expect(failing(facts)).toEqual([]);
});

test('a control-plane program that does not run on a master is unknown', () => {
  const facts = inside('master-0', ({ processes }) => ({
    processes: processes.filter(({ program }) => program !== 'kube-scheduler'),
  }));
  // Nor does anybody run any more whom its files belong to.
  expect(failing(facts)).toEqual(['1.1.15', '1.1.16', '1.1.19', '1.4.1', '1.4.2']);
});

test('the API that does not answer makes nothing pass that it was asked for', () => {
  const facts = { ...fresh, api: { status: 'unseen', isPossible: true, reason: 'no answer' } } as const;
  const policies = audit(facts, (_id, area) => area === 'policies').controls;
  expect(policies.filter(({ result }) => result === 'pass')).toEqual([]);
});
