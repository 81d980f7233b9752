// What a cluster refuses, limits and writes down without being asked: seen from outside, by requests and by openssl, and
// by what the running programs say of themselves.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { everybody, masters } from '../fire/fire-cluster.ts';
import { type CliOutcome, cli, eventually, inside, list, startCli } from '../machine-lab.ts';
import { type TrustCluster, trustKubeconfig, trustKubectl, trustKubectlJson } from './trust-cluster.ts';

const secretWord = 'nobody-writes-this-down';
const auditLog = '/var/log/kube-apiserver/audit.log';

export function hardenedDefaultsTopic(cluster: TrustCluster): void {
  declareAudit(cluster);
  declareAnonymous(cluster);
  declareTls(cluster);
  declarePods(cluster);
  declareKubelets(cluster);

  test('whoever writes a NetworkPolicy is told that nothing enforces it', async () => {
    const metadata = { name: 'deny-all', namespace: 'default' };
    const policy = { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata, spec: { podSelector: {} } };
    const { code, stderr } = await apply(cluster, policy);
    expect(stderr).toMatch(/Warning: .*does not enforce NetworkPolicies: every pod still reaches every pod/);
    expect(code).toBe(0);
  });

  test('only the break-glass group, the administrators and the version operator are bound to cluster-admin', async () => {
    interface Binding {
      readonly roleRef: { readonly name: string };
      readonly subjects?: readonly { readonly kind: string; readonly namespace?: string; readonly name: string }[];
    }
    const { items } = await trustKubectlJson<{ items: readonly Binding[] }>(cluster, 'get', 'clusterrolebindings');
    const all = items
      .filter(({ roleRef }) => roleRef.name === 'cluster-admin')
      .flatMap(({ subjects = [] }) => subjects);
    expect(all.map(({ kind, namespace = '', name }) => `${kind} ${namespace}/${name}`).sort()).toEqual([
      'Group /firstlight:admins',
      'Group /system:masters',
      'ServiceAccount openshift-cluster-version/cluster-version-operator',
    ]);
  });
}

interface AuditLine {
  readonly level: string;
  readonly verb: string;
  readonly requestURI: string;
  readonly objectRef?: { readonly resource: string; readonly name?: string };
  readonly requestObject?: unknown;
  readonly responseObject?: unknown;
}

function declareAudit(cluster: TrustCluster): void {
  test('every request is written down, for nobody else to read, and never what a Secret says', async () => {
    await trustKubectl(cluster, 'create', 'secret', 'generic', 'told', `--from-literal=word=${secretWord}`);
    await trustKubectl(cluster, 'get', 'secret', 'told');
    await trustKubectl(cluster, 'delete', 'secret', 'told');
    const texts = await Promise.all(masters.map((master) => inside(cluster.infraId(), master, `cat ${auditLog}`)));
    const lines = texts.flatMap((text) => text.trim().split('\n')).map((line) => JSON.parse(line) as AuditLine);
    const about = lines.filter(({ objectRef }) => objectRef?.resource === 'secrets' && objectRef.name === 'told');
    expect(new Set(about.map(({ verb }) => verb))).toEqual(new Set(['create', 'get', 'delete']));
    expect(lines.filter(({ level }) => level !== 'Metadata')).toEqual([]);
    expect(lines.filter((line) => 'requestObject' in line || 'responseObject' in line)).toEqual([]);
    expect(lines.filter(({ requestURI }) => /^\/(livez|readyz|healthz)/.test(requestURI))).toEqual([]);
    for (const word of [secretWord, Buffer.from(secretWord).toString('base64')]) {
      expect(texts.filter((text) => text.includes(word))).toEqual([]);
    }
    for (const master of masters) {
      const modes = await inside(cluster.infraId(), master, `stat -c '%a' ${auditLog} /var/log/kube-apiserver`);
      expect(modes.trim().split('\n')).toEqual(['600', '700']);
    }
  });

  test('the files of the audit log are bounded', async () => {
    const flags = await inside(cluster.infraId(), 'master-0', "tr '\\0' '\\n' < /proc/$(pidof kube-apiserver)/cmdline");
    expect(flags.split('\n')).toEqual(
      expect.arrayContaining(['--audit-log-maxsize=100', '--audit-log-maxbackup=10', '--audit-log-maxage=30']),
    );
  });
}

interface Request {
  readonly machine: string;
  readonly url: string;
  readonly asAdministrator?: boolean;
}

/** The status of an answer, asked from the network of a machine; without a name unless told. */
function statusOf(cluster: TrustCluster, { machine, url, asAdministrator = false }: Request): number {
  const credentials = asAdministrator ? administrator(cluster) : {};
  const script = `
    const options = { ...JSON.parse(process.argv[2]), rejectUnauthorized: false };
    require('node:https').get(process.argv[1], options, (answer) => { console.log(answer.statusCode); process.exit(); });
  `;
  const node = [process.execPath, '-e', script, url, JSON.stringify(credentials)];
  return Number(execFileSync('nsenter', [namespaceOf(cluster, machine), ...node], { timeout: 20_000 }).toString());
}

const namespaceOf = (cluster: TrustCluster, machine: string): string =>
  `--net=/run/netns/firstlight.${cluster.infraId()}.${machine}`;

function administrator(cluster: TrustCluster): object {
  const { users } = parseYaml(readFileSync(trustKubeconfig(cluster), 'utf8')) as {
    readonly users: readonly [{ readonly user: Readonly<Record<string, string>> }];
  };
  const decoded = (field: string): string => Buffer.from(users[0].user[field] ?? '', 'base64').toString('utf8');
  return { cert: decoded('client-certificate-data'), key: decoded('client-key-data') };
}

/** Asked once: looking at all machines takes a second. */
const machines = new Map<string, ReturnType<typeof list>>();

async function addressOf(cluster: TrustCluster, machine: string): Promise<string> {
  const id = cluster.infraId();
  const listed = machines.get(id) ?? list(id);
  machines.set(id, listed);
  return (await listed).find(({ name }) => name === machine)?.address ?? '';
}

function declareAnonymous(cluster: TrustCluster): void {
  test.each([
    ['/livez', 200],
    ['/readyz', 200],
    ['/healthz', 200],
    ['/version', 401],
    ['/api', 401],
    ['/apis', 401],
    ['/metrics', 401],
    ['/livez/etcd', 401],
    ['/api/v1/namespaces/kube-public/configmaps/cluster-info', 401],
  ])('a stranger who asks the API for %s gets %d', (path, status) => {
    expect(statusOf(cluster, { machine: 'master-0', url: `https://127.0.0.1:6443${path}` })).toBe(status);
  });

  test.each(['/pods', '/metrics', '/configz', '/healthz'])('and from a kubelet for %s 401', async (path) => {
    const url = `https://${await addressOf(cluster, 'worker-0')}:10250${path}`;
    expect(statusOf(cluster, { machine: 'worker-0', url })).toBe(401);
  });

  test('not even an administrator finds profiling', async () => {
    const pprof = (port: number) => ({
      machine: 'master-0',
      url: `https://127.0.0.1:${port}/debug/pprof/`,
      asAdministrator: true,
    });
    expect([6443, 10_257, 10_259].map((port) => statusOf(cluster, pprof(port)))).toEqual([404, 404, 404]);
    const { stderr } = await kubectl(cluster, 'get', '--raw', '/api/v1/nodes/worker-0/proxy/debug/pprof/');
    expect(stderr).toContain('MethodNotAllowed');
  });
}

const servers = [
  ...['kube-apiserver 6443', 'etcd 2379', 'etcd 2380', 'config server 22623', 'kubelet 10250'].map(
    (server) => ({ server, machine: 'master-0', onLoopback: false }) as const,
  ),
  { server: 'kube-controller-manager 10257', machine: 'master-0', onLoopback: true },
  { server: 'kube-scheduler 10259', machine: 'master-0', onLoopback: true },
  { server: 'kubelet 10250', machine: 'worker-0', onLoopback: false },
] as const;

function declareTls(cluster: TrustCluster): void {
  test.each(servers)('$server of $machine speaks modern TLS only', async ({ server, machine, onLoopback }) => {
    const address = onLoopback ? '127.0.0.1' : await addressOf(cluster, machine);
    const place = `${address}:${server.split(' ').at(-1)}`;
    const speak = (...options: readonly string[]): string => {
      const openssl = ['openssl', 's_client', '-connect', place, ...options];
      const { stdout, stderr } = spawnSync('nsenter', [namespaceOf(cluster, machine), ...openssl], {
        input: '',
        encoding: 'utf8',
        timeout: 20_000,
      });
      return stdout + stderr;
    };
    expect(speak('-tls1_3')).toContain('New, TLSv1.3, Cipher is TLS_');
    // openssl itself would not offer these without being told.
    for (const version of ['-tls1', '-tls1_1']) {
      expect(speak(version, '-cipher', 'ALL:@SECLEVEL=0')).toContain('alert protocol version');
    }
    for (const suites of ['ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA', 'AES128-GCM-SHA256:AES128-SHA']) {
      expect(speak('-tls1_2', '-cipher', `${suites}:@SECLEVEL=0`)).toContain('alert handshake failure');
    }
  });
}

async function kubectl(cluster: TrustCluster, ...args: readonly string[]): Promise<CliOutcome> {
  return startCli(['kubectl', '--dir', cluster.dir, ...args]).outcome;
}

/** As if it were applied: admission decides, nothing is stored. */
async function apply(cluster: TrustCluster, object: object): Promise<CliOutcome> {
  const file = join(cluster.folder, 'applied.json');
  writeFileSync(file, JSON.stringify(object));
  return kubectl(cluster, 'apply', '--dry-run=server', '-f', file);
}

async function ownImage(): Promise<string> {
  const release = JSON.parse(await cli('release', 'info', '-o', 'json')) as { images: readonly { tag: string }[] };
  return release.images.find(({ tag }) => tag.includes('/firstlight:'))?.tag ?? '';
}

function podOf(namespace: string, container: object): object {
  const containers = [{ name: 'one', image: 'none.example.test/none', imagePullPolicy: 'Never', ...container }];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'curious', namespace },
    spec: { restartPolicy: 'Never', tolerations: [{ operator: 'Exists' }], containers },
  };
}

function declarePods(cluster: TrustCluster): void {
  const privileged = { securityContext: { privileged: true } };

  test('a privileged pod is refused, also beside add-ons; kube-system may have one', async () => {
    const refused = await apply(cluster, podOf('default', privileged));
    expect(refused.stderr).toMatch(/violates PodSecurity "baseline:latest": privileged/);
    expect(refused.code).not.toBe(0);
    for (const namespace of ['kube-public', 'kube-node-lease', 'openshift-ingress', 'openshift-image-registry']) {
      expect((await apply(cluster, podOf(namespace, privileged))).code).not.toBe(0);
    }
    const allowed = await apply(cluster, podOf('kube-system', privileged));
    expect(allowed.stderr).not.toContain('PodSecurity');
    expect(allowed.code).toBe(0);
  });

  test('an ordinary pod runs, and whoever makes it learns what is missing for the restricted level', async () => {
    const { code, stderr } = await apply(cluster, podOf('default', {}));
    expect(stderr).toContain('Warning: would violate PodSecurity "restricted:latest"');
    expect(code).toBe(0);
  });

  test('a pod that says nothing runs under a seccomp profile and gets no token', async () => {
    const { filters, hasToken } = await curious(cluster, 'default', {});
    expect(hasToken).toBe('false');
    expect(filters).toBeGreaterThan(await machineFilters(cluster));
  });

  test('a pod that asks for Unconfined has the filters of its machine and no other', async () => {
    const unconfined = { securityContext: { seccompProfile: { type: 'Unconfined' } } };
    expect((await apply(cluster, podOf('default', unconfined))).stderr).toContain('seccompProfile');
    const { filters } = await curious(cluster, 'kube-system', unconfined);
    expect(filters).toBe(await machineFilters(cluster));
  });
}

/** What a pod sees of its filters and of a token. */
async function curious(
  cluster: TrustCluster,
  namespace: string,
  container: object,
): Promise<{ readonly filters: number; readonly hasToken: string }> {
  const look =
    "const fs=require('fs');console.log(/^Seccomp_filters:.*$/m.exec(fs.readFileSync('/proc/self/status','utf8'))[0],fs.existsSync('/var/run/secrets/kubernetes.io'))";
  const command = ['/usr/local/lib/firstlight/bin/node', '-e', look];
  const file = join(cluster.folder, 'curious.json');
  writeFileSync(file, JSON.stringify(podOf(namespace, { image: await ownImage(), command, ...container })));
  await trustKubectl(cluster, 'apply', '-f', file);
  const there = ['--namespace', namespace];
  const said = await eventually('the end of the pod', 30, async () => {
    const phase = await trustKubectl(cluster, 'get', 'pod', 'curious', ...there, '-o', 'jsonpath={.status.phase}');
    return phase === 'Succeeded' ? trustKubectl(cluster, 'logs', 'curious', ...there) : undefined;
  });
  await trustKubectl(cluster, 'delete', 'pod', 'curious', ...there, '--wait=false');
  const [, filters = '', hasToken = ''] = /^Seccomp_filters:\t(\d+) (\w+)$/.exec(said.trim()) ?? [];
  return { filters: Number(filters), hasToken };
}

/** The machine has filters of its own, which everything in it inherits. */
async function machineFilters(cluster: TrustCluster): Promise<number> {
  const line = await inside(cluster.infraId(), 'worker-0', 'grep Seccomp_filters /proc/$(pidof containerd)/status');
  return Number(line.split('\t')[1]);
}

function declareKubelets(cluster: TrustCluster): void {
  test.each(everybody)('the kubelet of %s runs with hardened settings', async (node) => {
    const { kubeletconfig } = JSON.parse(
      await trustKubectl(cluster, 'get', '--raw', `/api/v1/nodes/${node}/proxy/configz`),
    ) as { readonly kubeletconfig: object };
    expect(kubeletconfig).toMatchObject({
      authentication: { anonymous: { enabled: false }, webhook: { enabled: true } },
      authorization: { mode: 'Webhook' },
      seccompDefault: true,
      protectKernelDefaults: true,
      rotateCertificates: true,
      serverTLSBootstrap: true,
      podPidsLimit: 4096,
      enableProfilingHandler: false,
      makeIPTablesUtilChains: true,
      streamingConnectionIdleTimeout: '1h0m0s',
      eventRecordQPS: 50,
      imageMinimumGCAge: '10m0s',
      imageMaximumGCAge: '168h0m0s',
      imageGCHighThresholdPercent: 97,
      imageGCLowThresholdPercent: 95,
    });
    expect(kubeletconfig).not.toHaveProperty('readOnlyPort');
  });

  test('image clean-up leaves the images of the release: the runtime says that they are pinned', async () => {
    const { images } = JSON.parse(await inside(cluster.infraId(), 'worker-0', 'crictl images -o json')) as {
      readonly images: readonly { readonly repoTags: readonly string[]; readonly pinned: boolean }[];
    };
    const ours = images.filter(({ repoTags: [tag = ''] }) => tag.startsWith('release.firstlight.internal/'));
    expect(ours.length).toBeGreaterThan(5);
    expect(ours.filter(({ pinned }) => !pinned)).toEqual([]);
  });
}
