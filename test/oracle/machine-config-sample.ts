// A cluster for the tests that put our machine configuration to real tools.
import { hardenedSettings } from '../../src/contract/security-settings.ts';
import type { SoftwareFacts } from '../../src/machine-software/machine-software.ts';
import { someAuthority } from '../arbitrary/install-config.ts';

/** A bundle of two, with a remark between them as people leave there. */
export const twoAuthorities = `${someAuthority}# the other one\n${someAuthority}`;

export const sampleFacts: SoftwareFacts = {
  apiServerUrl: 'https://api-int.demo.firstlight.test:6443',
  clusterDns: ['10.96.0.10'],
  clusterDomain: 'cluster.local',
  clusterNetworks: ['10.128.0.0/14'],
  machineNetworks: ['10.99.0.0/24'],
  pauseImage: 'firstlight.local/pause@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  registries: [
    { name: 'docker.io', mirrors: [{ url: 'https://mirror.example.com:5000', caFile: '/etc/ssl/mirror.crt' }] },
    { name: '_default', mirrors: [{ url: 'https://all.example.com/v2/proxy' }] },
  ],
  kubeletEnvironment: { KUBELET_IMAGE_TAG: 'v1.37.1' },
  mastersSchedulable: false,
  security: hardenedSettings,
};

/** The same with everything that a cluster may have besides. */
export const fullFacts: SoftwareFacts = {
  ...sampleFacts,
  proxy: {
    httpProxy: 'http://proxy.example.com:3128',
    httpsProxy: 'http://proxy.example.com:3128',
    noProxy: ['.cluster.local', '10.99.0.0/24', 'api-int.demo.firstlight.test'],
    hasCredentials: true,
  },
  additionalTrustBundle: twoAuthorities,
  featureGates: { ContainerStopSignals: true, WatchListClient: false },
};
