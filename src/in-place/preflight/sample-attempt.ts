// An attempt for tests: the Secret of a node, the settings of its pod, and an Ignition config that its server gives.
import type { AttemptSecret, AttemptSettings } from '../../contract/in-place.ts';
import { daemonFiles } from '../../contract/machine-config-node.ts';
import { bootstrapKubeconfig, releaseReferenceFile } from '../../contract/machine-paths.ts';
import { apiPort, configServerPort } from '../../contract/ports.ts';
import type { IgnitionConfig } from '../../ignition/config.ts';
import { inlineFile } from '../../ignition/inline-contents.ts';
import { kubeconfigText } from '../../kubernetes/kubeconfig.ts';
import { configSpec, type MachineConfigSpec } from '../../machine-config/machine-config.ts';

export const sampleAttemptId = '0f7a5c1e-0000-4000-8000-000000000001';
export const sampleDaemonImage = `release.firstlight.internal/firstlight@sha256:${'a'.repeat(64)}`;

export const sampleSecret: AttemptSecret = {
  os: 'rhcos',
  'attempt-id': sampleAttemptId,
  'not-after': '2026-01-01T02:00:00Z',
  'ignition-url': `https://api-int.demo.test:${configServerPort}/config/worker`,
  'ignition-token': 'flp_token',
  'ignition-ca.crt': 'an authority',
};

export const sampleSettings: AttemptSettings = {
  attemptId: sampleAttemptId,
  node: 'worker-0',
  isAdoption: false,
  facts: { clusterId: 'demo', serviceUrl: `https://api-int.demo.test:${configServerPort}`, serviceCa: 'an authority' },
  grant: { attemptId: sampleAttemptId, secret: sampleSecret, token: 'reporter', ackSeq: 0 },
  lastSeq: 1,
  programDigests: {},
};

export const sampleKubeconfig = kubeconfigText({
  cluster: 'demo',
  server: `https://api-int.demo.test:${apiPort}`,
  caPem: 'an authority',
  user: 'kubelet-bootstrap',
  credential: { kind: 'token', token: 'abcdef.0123456789abcdef' },
});

export const sampleRendered = 'rendered-worker-1';

/** What a config server gives for a rendered config. */
export function sampleIgnition(change: Partial<MachineConfigSpec> = {}): Uint8Array {
  const release = JSON.stringify({ releaseImage: 'release', daemonImage: sampleDaemonImage });
  const files = [inlineFile({ path: releaseReferenceFile, content: release, mode: 0o644 })];
  const config: IgnitionConfig = { ignition: { version: '3.5.0' }, storage: { files } };
  const machineConfig = {
    apiVersion: 'machineconfiguration.openshift.io/v1',
    kind: 'MachineConfig',
    metadata: { name: sampleRendered },
    spec: { ...configSpec(config), ...change },
  };
  const added = [
    inlineFile({ path: daemonFiles.nodeAnnotations, content: '{}', mode: 0o644 }),
    inlineFile({ path: bootstrapKubeconfig, content: sampleKubeconfig, mode: 0o600 }),
    inlineFile({ path: daemonFiles.servedMachineConfig, content: JSON.stringify(machineConfig), mode: 0o600 }),
  ];
  return Buffer.from(JSON.stringify({ ...config, storage: { files: [...files, ...added] } }));
}
