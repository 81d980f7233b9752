// A cluster for the tests that put our machine configuration to real tools.
import type { ClusterFacts } from '../../src/node-software/machine-software.ts';

export const sampleFacts: ClusterFacts = {
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
};
