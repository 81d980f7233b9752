// The config server of a master: memory while it follows the API, and with a thousand machines that ask at the same moment,
// each of which costs a Secret in etcd. Real etcd and kube-apiserver on loopback. Needs the oracles that ./check builds.
// `FIRSTLIGHT_ORACLE_BIN=… node bench/config-server-cluster.ts`
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { digestToken } from '../src/admission/bootstrap-token.ts';
import { configServerAccess } from '../src/assets/manifests/agent-access.ts';
import { poolTokensSecret } from '../src/contract/cluster-objects.ts';
import { kubeconfigText } from '../src/kubernetes/kubeconfig.ts';
import { toYamlDocuments } from '../src/kubernetes/yaml.ts';
import { machineConfigCrds } from '../src/machine-config/crds.ts';
import { controllerConfigManifest } from '../src/machine-config/manifests.ts';
import { masterConfigServerUnit } from '../src/machine-software/bootstrap-units.ts';
import { ask, type Lab, makeLab, serveArguments, tokens } from '../test/oracle/config-server-lab.ts';
import { type ControlPlaneProcesses, startControlPlane } from '../test/oracle/control-plane-processes.ts';
import { sampleFacts } from '../test/oracle/machine-config-sample.ts';
import { type Contestant, machines, memoryMb, rush, start } from './config-server-clients.ts';

function applyText(plane: ControlPlaneProcesses, text: string): void {
  const path = join(plane.folder, 'manifest.yaml');
  writeFileSync(path, text);
  const { output, code } = plane.kubectl('apply', '--server-side', '-f', path);
  if (code !== 0) throw new Error(output);
}

async function fill(plane: ControlPlaneProcesses, lab: Lab): Promise<void> {
  applyText(plane, toYamlDocuments(machineConfigCrds));
  const [access] = await configServerAccess.generate({}, undefined as never);
  applyText(plane, String(access?.content));
  const notAfter = new Date(Date.now() + 3_600_000).toISOString();
  const digests = { master: [{ sha256: digestToken(tokens.master), notAfter }] };
  const { name, namespace, key } = poolTokensSecret;
  const data = { [key]: Buffer.from(JSON.stringify(digests)).toString('base64') };
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, type: 'Opaque', data };
  applyText(plane, toYamlDocuments([controllerConfigManifest(sampleFacts), secret]));
  const pair = lab.pair();
  writeFileSync(join(plane.pki, 'machine-config-server.crt'), pair.certificatePem);
  writeFileSync(join(plane.pki, 'machine-config-server.key'), pair.key.privatePem.reveal());
}

function startMaster(plane: ControlPlaneProcesses, lab: Lab): Promise<Contestant> {
  const file = (name: string): { readonly file: string } => ({ file: join(plane.pki, name) });
  const kubeconfig = join(plane.folder, 'config-server.kubeconfig');
  const credential = {
    kind: 'files',
    certificate: file('config-server-client.crt'),
    key: file('config-server-client.key'),
  } as const;
  const caPem = file('apiserver-ca.crt');
  writeFileSync(
    kubeconfig,
    kubeconfigText({ cluster: 'demo', server: plane.server, caPem, user: 'config-server', credential }),
    { mode: 0o600 },
  );
  const root = new URL('..', import.meta.url).pathname;
  execFileSync(process.execPath, [`${root}tools/bundle.ts`, lab.at('bundle')], { cwd: root, stdio: 'ignore' });
  const serve = serveArguments(lab, 25_000 + (process.pid % 5_000));
  const cluster = ['--mode', 'cluster', '--api-kubeconfig', kubeconfig, '--pki', plane.pki, '--log-level', 'info'];
  const environment = { ...masterConfigServerUnit.service.Environment } as Record<string, string>;
  return start(lab, 'config server', { args: [lab.at('bundle/firstlight.mjs'), ...serve, ...cluster], environment });
}

async function untilHealthy(lab: Lab, server: Contestant): Promise<void> {
  const endMs = performance.now() + 20_000;
  while ((await ask(lab, server, '/healthz')).status !== 200) {
    if (performance.now() > endMs) throw new Error('the server did not become healthy within 20 s');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function main(): Promise<void> {
  using lab = makeLab();
  lab.write('log/about', 'beside what the server watches');
  const plane = await startControlPlane(['etcd', 'kube-apiserver']);
  let server: Contestant | undefined;
  try {
    await fill(plane, lab);
    server = await startMaster(plane, lab);
    await untilHealthy(lab, server);
    const idleMb = memoryMb(server, 'VmRSS');
    const seen = await rush(server, createSecureContext({ ca: lab.rootCa.certificatePem }));
    const mostMb = memoryMb(server, 'VmHWM');
    console.log(
      [
        `${machines} machines in the same moment, from the API: served ${seen.served}, p50 ${seen.p50Ms.toFixed(0)} ms, p99 ${seen.p99Ms.toFixed(0)} ms`,
        `memory: ${idleMb.toFixed(0)} MB before, ${mostMb.toFixed(0)} MB at most`,
      ].join('\n'),
    );
  } finally {
    server?.process.kill('SIGKILL');
    await plane.stop();
  }
}

await main();
