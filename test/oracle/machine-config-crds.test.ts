// Our kinds before a real kube-apiserver: it takes the definitions, kubectl puts MachineConfigs of existing clusters
// into it, and what comes back renders to the same names as the files did.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toYamlDocuments } from '../../src/kubernetes/yaml.ts';
import { baseMachineConfigs, clusterFactsOf, sshMachineConfig } from '../../src/machine-config/base-machine-configs.ts';
import { machineConfigCrds } from '../../src/machine-config/crds.ts';
import { disruptionPolicies } from '../../src/machine-config/disruption-policies.ts';
import { controllerConfigManifest, machineConfigManifest } from '../../src/machine-config/manifests.ts';
import { allPools, builtInPools } from '../../src/machine-config/pools.ts';
import { readObjects } from '../../src/machine-config/read-objects.ts';
import { renderPool } from '../../src/machine-config/render.ts';
import { readDocuments } from '../../src/source-text/documents.ts';
import { freePorts } from './free-ports.ts';
import { fullFacts } from './machine-config-sample.ts';
import { oracleProgram } from './programs.ts';

const folder = mkdtempSync(join(tmpdir(), 'firstlight-crds-'));
const started: ChildProcess[] = [];
let server = '';

function start(program: string, args: readonly string[]): void {
  started.push(spawn(oracleProgram(program), args, { cwd: folder, stdio: 'ignore' }));
}

function kubectl(...args: readonly string[]) {
  const access = ['--server', server, '--insecure-skip-tls-verify', '--token', 'admin', '--cache-dir', folder];
  return spawnSync(oracleProgram('kubectl'), [...access, ...args], { encoding: 'utf8' });
}

async function until(what: string, isTrue: () => boolean): Promise<void> {
  for (const deadline = performance.now() + 60_000; performance.now() < deadline; ) {
    if (isTrue()) return;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  throw new Error(`${what}: not within 60 s`);
}

beforeAll(async () => {
  const [client, peer, api] = await freePorts(3);
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  writeFileSync(join(folder, 'sa.key'), privateKey.export({ type: 'sec1', format: 'pem' }));
  writeFileSync(join(folder, 'tokens'), 'admin,admin,1,system:masters\n');
  const [clientUrl, peerUrl] = [`http://127.0.0.1:${client}`, `http://127.0.0.1:${peer}`];
  start('etcd', [
    '--data-dir=data',
    `--listen-client-urls=${clientUrl}`,
    `--advertise-client-urls=${clientUrl}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=default=${peerUrl}`,
  ]);
  start('kube-apiserver', [
    `--etcd-servers=${clientUrl}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${api}`,
    '--cert-dir=certs',
    '--service-account-issuer=https://oracle',
    '--service-account-key-file=sa.key',
    '--service-account-signing-key-file=sa.key',
    '--service-cluster-ip-range=10.96.0.0/16',
    '--token-auth-file=tokens',
    '--authorization-mode=RBAC',
    '--endpoint-reconciler-type=none',
  ]);
  server = `https://127.0.0.1:${api}`;
  await until('kube-apiserver is ready', () => kubectl('get', '--raw', '/readyz').status === 0);
}, 90_000);

afterAll(async () => {
  // The API first: it hangs in its shutdown when etcd is gone before it.
  for (const child of started.reverse()) {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill();
    await ended;
  }
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

function apply(name: string, objects: readonly object[]): string {
  writeFileSync(join(folder, name), toYamlDocuments(objects));
  const { status, stdout, stderr } = kubectl('apply', '--server-side', '--validate=strict', '-f', join(folder, name));
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

function namesOf(text: string): readonly string[] {
  const { machineConfigs, pools, controllerConfig, mistakes } = readObjects(readDocuments('text', text).documents);
  expect(mistakes).toEqual([]);
  const facts = clusterFactsOf(controllerConfig!);
  const all = [...baseMachineConfigs(facts, 'test'), ...machineConfigs];
  return allPools(pools).map((pool) => renderPool(pool, all, { generatedBy: 'test' }).name);
}

test('what a real API gives back renders to the same names as the files that went into it', () => {
  apply('crds.yaml', machineConfigCrds);
  const waited = kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=30s');
  expect(waited.stderr).toBe('');

  const objects = [
    controllerConfigManifest(fullFacts, {
      torcx: { upgradeOS: false, manifestURL: 'https://bucket.test/', runtimeMappings: 'a: b\n', keyring: 'keys' },
    }),
    ...builtInPools.map((pool) => JSON.parse(JSON.stringify(pool)) as object),
    machineConfigManifest(sshMachineConfig('master', ['ssh-ed25519 AAAA'])),
    machineConfigManifest(sshMachineConfig('worker', ['ssh-ed25519 AAAA'])),
  ];
  apply('objects.yaml', objects);
  const kinds = 'machineconfigs,machineconfigpools,controllerconfigs';
  const stored = kubectl('get', kinds, '-o', 'yaml');
  expect(namesOf(stored.stdout)).toEqual(namesOf(toYamlDocuments(objects)));
  expect(kubectl('get', 'mc').stdout).toMatch(/^99-worker-ssh +3\.5\.0 /m);
});

test('kubectl prints the columns of the original', () => {
  const columns = (kind: string): readonly string[] => (kubectl('get', kind).stdout.split('\n')[0] ?? '').split(/ +/);
  const counts = ['MACHINECOUNT', 'READYMACHINECOUNT', 'UPDATEDMACHINECOUNT', 'DEGRADEDMACHINECOUNT'];
  expect(columns('mcp')).toEqual(['NAME', 'CONFIG', 'UPDATED', 'UPDATING', 'DEGRADED', ...counts, 'AGE']);
  expect(columns('mc')).toEqual(['NAME', 'GENERATEDBYCONTROLLER', 'IGNITIONVERSION', 'AGE']);
  apply('kubelet-config.yaml', [kubeletConfig({ maxPods: 10 })]);
  expect(columns('kubeletconfig')).toEqual(['NAME', 'AGE']);
});

function kubeletConfig(fields: object): object {
  const machineConfigPoolSelector = { matchLabels: { pool: 'worker' } };
  return {
    apiVersion: 'machineconfiguration.openshift.io/v1',
    kind: 'KubeletConfig',
    metadata: { name: 'pods' },
    spec: { machineConfigPoolSelector, kubeletConfig: fields, logLevel: 4 },
  };
}

function machineConfiguration(action: object): object {
  return {
    apiVersion: 'operator.openshift.io/v1',
    kind: 'MachineConfiguration',
    metadata: { name: 'cluster' },
    spec: { nodeDisruptionPolicy: { files: [{ path: '/etc/app', actions: [action] }] } },
  };
}

test('disruption policies are read back as they were written, and an unknown action is refused by the API', () => {
  apply('policies.yaml', [machineConfiguration({ type: 'Restart', restart: { serviceName: 'app.service' } })]);
  const stored: unknown = JSON.parse(kubectl('get', 'machineconfiguration', 'cluster', '-o', 'json').stdout);
  expect(disruptionPolicies(stored).files).toEqual([
    { path: '/etc/app', actions: [{ kind: 'restart', unit: 'app.service' }] },
  ]);
  expect(() => apply('policies.yaml', [machineConfiguration({ type: 'Explode' })])).toThrow(
    /Unsupported value: "Explode"/,
  );
});
