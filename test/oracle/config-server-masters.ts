// Config servers as they run on masters: the real program with its own identity and its own rights, against the real
// kube-apiserver.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestToken } from '../../src/admission/bootstrap-token.ts';
import { configServerAccess } from '../../src/assets/manifests/agent-access.ts';
import { inventoryConfigMap, inventoryKey, poolTokensSecret } from '../../src/contract/cluster-objects.ts';
import { type Inventory, inventoryText } from '../../src/contract/inventory.ts';
import { kubeconfigText } from '../../src/kubernetes/kubeconfig.ts';
import { toYamlDocuments } from '../../src/kubernetes/yaml.ts';
import { machineConfigCrds } from '../../src/machine-config/crds.ts';
import { type Lab, type LabServer, startServer } from './config-server-lab.ts';
import type { ControlPlaneProcesses } from './control-plane-processes.ts';

export function applyTo(plane: ControlPlaneProcesses, ...objects: readonly object[]): void {
  applyText(plane, toYamlDocuments(objects));
}

function applyText(plane: ControlPlaneProcesses, text: string): void {
  writeFileSync(join(plane.folder, 'manifest.yaml'), text);
  const { output, code } = plane.kubectl('apply', '--server-side', '-f', join(plane.folder, 'manifest.yaml'));
  if (code !== 0) throw new Error(output);
}

/** The kinds, the rights and the pair of the servers. */
export async function prepareForConfigServers(plane: ControlPlaneProcesses, lab: Lab): Promise<void> {
  applyTo(plane, ...machineConfigCrds);
  const [access] = await configServerAccess.generate({}, undefined as never);
  applyText(plane, String(access!.content));
  applyTo(plane, inventoryOf({ isClosed: false, machines: [] }));
  const pair = lab.pair();
  writeFileSync(join(plane.pki, 'machine-config-server.crt'), pair.certificatePem);
  writeFileSync(join(plane.pki, 'machine-config-server.key'), pair.key.privatePem.reveal());
}

export function startMaster(plane: ControlPlaneProcesses, lab: Lab): Promise<LabServer> {
  const file = (name: string): { readonly file: string } => ({ file: join(plane.pki, name) });
  const text = kubeconfigText({
    cluster: 'demo',
    server: plane.server,
    caPem: file('apiserver-ca.crt'),
    user: 'config-server',
    credential: { kind: 'files', certificate: file('config-server-client.crt'), key: file('config-server-client.key') },
  });
  const path = join(plane.folder, 'config-server.kubeconfig');
  writeFileSync(path, text, { mode: 0o600 });
  return startServer(lab, ['--mode', 'cluster', '--api-kubeconfig', path, '--pki', plane.pki]);
}

export function poolTokensOf(...given: readonly (readonly [pool: string, token: string])[]): object {
  const notAfter = new Date(Date.now() + 3_600_000).toISOString();
  const digests = Object.fromEntries(given.map(([pool, token]) => [pool, [{ sha256: digestToken(token), notAfter }]]));
  const { name, namespace, key } = poolTokensSecret;
  const data = { [key]: Buffer.from(JSON.stringify(digests)).toString('base64') };
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, type: 'Opaque', data };
}

export function inventoryOf(inventory: Inventory): object {
  const { apiVersion, kind, name, namespace } = inventoryConfigMap;
  return { apiVersion, kind, metadata: { name, namespace }, data: { [inventoryKey]: inventoryText(inventory) } };
}
