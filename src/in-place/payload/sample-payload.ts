// A payload for tests: a small rendered config, what a config server adds to it, and its certificate with the chain.
import { daemonFiles } from '../../contract/machine-config-node.ts';
import {
  bootstrapKubeconfig,
  containerdConfig,
  kubeletConfiguration,
  programs,
  staticPodFolder,
} from '../../contract/machine-paths.ts';
import { seededRandom } from '../../host/fake/fake-random.ts';
import type { IgnitionConfig } from '../../ignition/config.ts';
import { inlineFile } from '../../ignition/inline-contents.ts';
import { configSpec, type MachineConfig } from '../../machine-config/machine-config.ts';
import { type Credential, issueLeaf, issueSigner } from '../../pki/issue.ts';
import { buildPayload, type PayloadRequest } from './build-payload.ts';
import type { PayloadExpectation } from './verify-payload.ts';

export const sampleTime = new Date('2026-01-01T00:00:00Z');
export const sampleServer = 'api-int.demo.firstlight.test';
export const sampleIds = { workerId: 'worker-0', clusterId: 'demo-x7k2p', region: 'local' };

const subject = (commonName: string) => ({ commonName, organizations: [] });

/** An authority, and certificates of config servers that it vouches for through a signer, from `now` on. */
export function samplePki(now: Date) {
  const options = { random: seededRandom('payload'), now };
  const root = issueSigner({ subject: subject('root-ca'), validityDays: 3650, pathLength: 1 }, options);
  const between = issueSigner({ subject: subject('config-server-signer'), validityDays: 3650 }, options, root);
  const serving = (dnsName: string = sampleServer): Credential => {
    const names = { subject: subject('config-server'), dnsNames: [dnsName], ipAddresses: [] };
    return issueLeaf({ ...names, validityDays: 30, purpose: 'server' }, between, options);
  };
  return {
    authority: root.certificatePem,
    serving,
    signer: (leaf: Credential = serving()): PayloadRequest['signer'] => {
      return { certificatePem: leaf.certificatePem + between.certificatePem, keyPem: leaf.key.privatePem };
    },
  };
}

export const { authority: sampleAuthority, serving: sampleServing, signer: sampleSigner } = samplePki(sampleTime);

const unit = (program: string): string => `[Service]\nExecStart=${program}\n\n[Install]\nWantedBy=multi-user.target\n`;

const sampleConfig: IgnitionConfig = {
  ignition: { version: '3.5.0' },
  storage: {
    directories: [{ path: staticPodFolder, mode: 0o755 }],
    files: [
      inlineFile({ path: containerdConfig, content: 'version = 3\n', mode: 0o644 }),
      inlineFile({ path: kubeletConfiguration, content: 'kind: KubeletConfiguration\n', mode: 0o600 }),
      inlineFile({ path: '/etc/motd', content: 'a node\n', mode: 0o644 }),
    ],
    links: [{ path: '/etc/pointer', target: '/etc/motd' }],
  },
  systemd: {
    units: [
      { name: 'containerd.service', enabled: true, contents: unit(programs.containerd) },
      { name: 'firstlight-agent.service', enabled: true, contents: unit(`${programs.firstlight} agent`) },
      { name: 'kubelet.service', contents: unit(programs.kubelet) },
      { name: 'noise.service', mask: true },
    ],
  },
};

export function sampleMachineConfig(config: IgnitionConfig = sampleConfig): MachineConfig {
  const metadata = { name: 'rendered-worker-1', labels: {}, annotations: {} };
  return { metadata, spec: configSpec(config) };
}

export function sampleRequest(changes: Partial<PayloadRequest> = {}): PayloadRequest {
  const machineConfig = changes.machineConfig ?? sampleMachineConfig();
  const text = JSON.stringify(machineConfig);
  return {
    ids: sampleIds,
    pool: 'worker',
    machineConfig,
    addedFiles: [
      inlineFile({ path: bootstrapKubeconfig, content: 'token: abcdef.0123456789abcdef\n', mode: 0o600 }),
      inlineFile({ path: daemonFiles.nodeAnnotations, content: '{}', mode: 0o644 }),
      inlineFile({ path: daemonFiles.servedMachineConfig, content: text, mode: 0o600, gzip: true }),
      inlineFile({ path: daemonFiles.encapsulated, content: '{}', mode: 0o600 }),
    ],
    signer: sampleSigner(),
    now: sampleTime,
    ...changes,
  };
}

export function samplePayload(changes: Partial<PayloadRequest> = {}): Promise<Uint8Array> {
  return buildPayload(sampleRequest(changes));
}

export const sampleExpectation: PayloadExpectation = {
  caPem: sampleAuthority,
  serverName: sampleServer,
  ids: sampleIds,
  now: sampleTime,
};
