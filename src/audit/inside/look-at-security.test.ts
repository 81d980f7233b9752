import { expect, test } from 'vitest';
import { fakeHost } from '../../host/fake/fake-host.ts';
import { fileFlags, podOfCgroup } from './find-processes.ts';
import { contentKind, lookAtSecurity } from './look-at-security.ts';
import { securityFactsSchema } from './security-facts.ts';

type FakeMachine = ReturnType<typeof fakeHost>;

interface FakeProcess {
  readonly pid: number;
  readonly executable: string;
  readonly args: readonly string[];
  readonly cgroup: string;
}

const uid = '0123456789abcdef0123456789abcdef';
const inPod = `0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${uid}.slice/cri-1.scope\n`;
const unit = '0::/system.slice/kubelet.service\n';

async function addProcess({ files }: FakeMachine, { pid, executable, args, cgroup }: FakeProcess): Promise<void> {
  await files.makeFolder(`/proc/${pid}`);
  await files.symlink(executable, `/proc/${pid}/exe`);
  await files.write(`/proc/${pid}/cmdline`, `${args.join('\0')}\0`);
  await files.write(`/proc/${pid}/status`, 'Name:\tx\nUid:\t0\t65534\t0\t0\n');
  await files.write(`/proc/${pid}/cgroup`, cgroup);
}

async function addFile({ files }: FakeMachine, path: string, text: string, mode = 0o600): Promise<void> {
  await files.makeFolder(path.replace(/\/[^/]+$/, ''));
  await files.write(path, text, { mode });
}

function machine(): FakeMachine {
  const shown = 'FragmentPath=/etc/systemd/system/kubelet.service\nDropInPaths=\n';
  const stopped = { signal: undefined, stderr: '', timedOut: false } as const;
  return fakeHost({
    environment: { hostname: 'master-0' },
    processes: { run: async () => ({ ...stopped, code: 0, stdout: shown }) },
  });
}

test('processes are known by their executable and cgroup, not by the name they give themselves', async () => {
  const host = machine();
  const real = { executable: '/usr/local/bin/kube-apiserver', args: ['kube-apiserver', '--profiling=false'] };
  await addProcess(host, { pid: 10, ...real, cgroup: inPod });
  await addProcess(host, { pid: 11, ...real, executable: '/usr/bin/sleep', cgroup: inPod });
  await addProcess(host, {
    pid: 12,
    executable: '/usr/local/bin/kubelet',
    args: ['/usr/local/bin/kubelet'],
    cgroup: unit,
  });
  const { processes } = await lookAtSecurity(host);
  expect(processes.map(({ pid, program, pod, unit: of }) => ({ pid, program, pod, of }))).toEqual([
    { pid: 10, program: 'kube-apiserver', pod: uid, of: undefined },
    { pid: 12, program: 'kubelet', pod: undefined, of: 'kubelet.service' },
  ]);
  expect(processes[0]?.uid).toBe(65_534);
});

test('of the encryption configuration only the names of providers leave the machine, in the order of the file', async () => {
  const host = machine();
  const args = ['kube-apiserver', '--encryption-provider-config=/keys/encryption.yaml'];
  await addProcess(host, { pid: 10, executable: '/usr/local/bin/kube-apiserver', args, cgroup: inPod });
  const text = `kind: EncryptionConfiguration
resources:
  - resources: [secrets]
    providers:
      - secretbox: { keys: [{ name: one, secret: dmVyeS1zZWNyZXQ= }] }
      - identity: {}
`;
  await addFile(host, '/proc/10/root/keys/encryption.yaml', text);
  const facts = await lookAtSecurity(host);
  expect(facts.processes[0]?.settings).toEqual({
    encryption: [{ resources: ['secrets'], providers: ['secretbox', 'identity'] }],
  });
  expect(JSON.stringify(facts)).not.toContain('dmVyeS1zZWNyZXQ=');
});

test('keys are found by what is in a file, and nothing of them leaves the machine', async () => {
  const host = machine();
  const key = '-----BEGIN EC PRIVATE KEY-----\nMHcC\n-----END EC PRIVATE KEY-----\n';
  await addFile(host, '/etc/kubernetes/pki/deep/odd-name.txt', key, 0o644);
  await addFile(host, '/etc/kubernetes/kubelet.env', 'A=b\n', 0o644);
  const facts = await lookAtSecurity(host);
  expect(facts.credentials).toEqual([
    { path: '/etc/kubernetes/pki/deep/odd-name.txt', mode: 0o644, uid: 0, gid: 0, holds: 'key' },
  ]);
  expect(JSON.stringify(facts)).not.toContain('MHcC');
  expect(securityFactsSchema.parse(JSON.parse(JSON.stringify(facts)))).toEqual(facts);
});

test('a plugin of admission that has its configuration in another file is read from there', async () => {
  const host = machine();
  const args = ['kube-apiserver', '--admission-control-config-file', '/etc/x/admission.yaml'];
  await addProcess(host, { pid: 10, executable: '/usr/local/bin/kube-apiserver', args, cgroup: inPod });
  await addFile(host, '/proc/10/root/etc/x/admission.yaml', 'plugins: [{ name: PodSecurity, path: psa.yaml }]\n');
  await addFile(host, '/proc/10/root/etc/x/psa.yaml', 'defaults: { enforce: baseline }\n');
  expect((await lookAtSecurity(host)).processes[0]?.settings).toEqual({
    admission: { plugins: [{ name: 'PodSecurity', configuration: { defaults: { enforce: 'baseline' } } }] },
  });
});

test.each([
  ['kind: Config\nclusters: []\nusers: []\n', 'kubeconfig'],
  ['-----BEGIN CERTIFICATE-----\n', 'certificate'],
  ['-----BEGIN CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----\n', 'key'],
  ['{"kind": "EncryptionConfiguration"}', 'key'],
  ['kind: KubeletConfiguration\n', undefined],
])('%j holds %s', (text, holds) => {
  expect(contentKind(text)).toBe(holds);
});

test('flags name files with = and without, and in lists', () => {
  expect(fileFlags(['--a=/x', '--b', '/y', '--c=/p,/q', '--d', '-e', '--f=word'])).toEqual([
    { flag: 'a', path: '/x' },
    { flag: 'b', path: '/y' },
    { flag: 'c', path: '/p' },
    { flag: 'c', path: '/q' },
  ]);
});

test('the name of a cgroup gives the pod, with either driver', () => {
  const dashed = '01234567-89ab-cdef-0123-456789abcdef';
  expect(podOfCgroup(`0::/kubepods/burstable/pod${dashed}/cri\n`)).toBe(dashed);
  expect(podOfCgroup(`0::/kubepods.slice/kubepods-pod${dashed.replaceAll('-', '_')}.slice/x\n`)).toBe(dashed);
  expect(podOfCgroup('0::/system.slice/kubelet.service\n')).toBeUndefined();
});
