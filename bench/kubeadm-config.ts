// What kubeadm and its machines are told. The aim is a fast and honest kubeadm: everything that can be there beforehand
// is (images, CNI, names, routes, certificate key and token), nothing is probed or waited for that could be left out by
// configuration, and the machines, programs and images are those of our own clusters.
import { pauseImage } from '../src/assets/software-facts.ts';
import { containerdConfig, nodeSettingsFile, programs, sysctlFile } from '../src/contract/machine-paths.ts';
import { nodeSettingsText } from '../src/contract/node-settings.ts';
import { containerdConfigText } from '../src/machine-software/containerd-config.ts';
import { ignitionUnit } from '../src/machine-software/ignition-unit.ts';
import { onSharedDisk } from '../src/machine-software/kubelet-configuration.ts';
import { containerdUnit, prepareUnit } from '../src/machine-software/node-units.ts';
import { sysctlText } from '../src/machine-software/sysctls.ts';

export const kubernetesVersion = 'v1.37.1';
export const imageRepository = 'release.firstlight.internal';
export const bootstrapToken = 'abcdef.0123456789abcdef';
const certificateKey = '0'.repeat(64);
const socket = 'unix:///run/containerd/containerd.sock';

/** As kubeadm's own packages have it: kubeadm writes the files and starts the unit. */
const kubeletService = `[Unit]
Description=kubelet, as kubeadm expects it
Wants=containerd.service
After=containerd.service

[Service]
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
ExecStart=${programs.kubelet} --bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf --config=/var/lib/kubelet/config.yaml $KUBELET_KUBEADM_ARGS
Restart=always
RestartSec=1

[Install]
WantedBy=multi-user.target
`;

function file(path: string, content: string): object {
  return { path, mode: 0o644, contents: { source: `data:;base64,${Buffer.from(content).toString('base64')}` } };
}

export const kubeadmIgnition = {
  ignition: { version: '3.5.0' },
  storage: {
    files: [
      file(containerdConfig, containerdConfigText({ pauseImage })),
      file(nodeSettingsFile, nodeSettingsText({ machineNetworks: ['10.99.0.0/24'] })),
      file(sysctlFile, sysctlText()),
    ],
  },
  systemd: {
    units: [
      ...[prepareUnit, containerdUnit].map(ignitionUnit),
      { name: 'kubelet.service', enabled: false, contents: kubeletService },
    ],
  },
};

export interface KubeadmCluster {
  readonly domain: string;
  readonly etcdTag: string;
  readonly dnsTag: string;
}

/** JSON documents are YAML documents. */
export function initConfiguration(cluster: KubeadmCluster, address: string): string {
  const { domain, etcdTag, dnsTag } = cluster;
  const documents = [
    {
      apiVersion: 'kubeadm.k8s.io/v1beta4',
      kind: 'InitConfiguration',
      bootstrapTokens: [{ token: bootstrapToken, groups: ['system:bootstrappers:kubeadm:default-node-token'] }],
      certificateKey,
      localAPIEndpoint: { advertiseAddress: address },
      nodeRegistration,
    },
    {
      apiVersion: 'kubeadm.k8s.io/v1beta4',
      kind: 'ClusterConfiguration',
      kubernetesVersion,
      imageRepository,
      controlPlaneEndpoint: `api.${domain}:6443`,
      etcd: { local: { imageTag: etcdTag } },
      dns: { imageTag: dnsTag },
      // So that it can be asked through the loopback port of this host.
      apiServer: { certSANs: ['127.0.0.1'] },
      networking: { serviceSubnet: '172.30.0.0/16' },
    },
    {
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      cgroupDriver: 'cgroupfs',
      failCgroupV1: false,
      failSwapOn: false,
      ...onSharedDisk,
    },
    {
      apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
      kind: 'KubeProxyConfiguration',
      mode: 'nftables',
      conntrack: { maxPerCore: 0, min: 0 },
    },
  ];
  return documents.map((document) => JSON.stringify(document, null, 2)).join('\n---\n');
}

export function joinConfiguration({ domain }: KubeadmCluster, address: string): string {
  return JSON.stringify({
    apiVersion: 'kubeadm.k8s.io/v1beta4',
    kind: 'JoinConfiguration',
    discovery: {
      bootstrapToken: {
        apiServerEndpoint: `api.${domain}:6443`,
        token: bootstrapToken,
        unsafeSkipCAVerification: true,
      },
    },
    controlPlane: { certificateKey, localAPIEndpoint: { advertiseAddress: address } },
    nodeRegistration,
  });
}

// Masters carry pods here as they do in our clusters without workers, so that CoreDNS has a place.
const nodeRegistration = { criSocket: socket, imagePullPolicy: 'Never', taints: [] };

/** A pod range per machine, fixed, so that nobody waits for one to be given out. */
export function cniConfiguration(index: number): string {
  return JSON.stringify({
    cniVersion: '1.0.0',
    name: 'bench',
    plugins: [
      {
        type: 'ptp',
        ipMasq: false,
        ipam: { type: 'host-local', ranges: [[{ subnet: podRange(index) }]], routes: [{ dst: '0.0.0.0/0' }] },
      },
      { type: 'portmap', capabilities: { portMappings: true }, snat: true },
    ],
  });
}

export function podRange(index: number): string {
  return `10.128.${index}.0/24`;
}
