// The paths on a machine. Units, configurations, the machine root and the agent all take their paths from this file, so
// that they always use the same path.

/** Programs of the machine root (the release puts them there). */
export const programs = {
  firstlight: '/usr/local/bin/firstlight',
  kubelet: '/usr/local/bin/kubelet',
  kubeProxy: '/usr/local/bin/kube-proxy',
  containerd: '/usr/local/bin/containerd',
  etcd: '/usr/local/bin/etcd',
  etcdctl: '/usr/local/bin/etcdctl',
  etcdutl: '/usr/local/bin/etcdutl',
  crictl: '/usr/local/bin/crictl',
  systemctl: '/usr/bin/systemctl',
  shell: '/bin/sh',
  nft: '/usr/sbin/nft',
  updateCaCertificates: '/usr/sbin/update-ca-certificates',
  test: '/usr/bin/test',
  touch: '/usr/bin/touch',
  true: '/usr/bin/true',
} as const;

/** The programs of upstream, on machines and in their images. */
export const programFolder = '/usr/local/bin';

/** Upstream's programs that scripts of the same names in `programFolder` call. */
export const upstreamProgramFolder = '/usr/local/libexec/firstlight';

/** V8 flags for processes of ours that run for months and mostly wait: without compilers and their threads. */
export const smallProcessFlags: readonly string[] = [
  '--single-threaded',
  '--no-opt',
  '--no-sparkplug',
  '--optimize-for-size',
];

/** Node and the bundle, on machines and in our image. */
export const firstlightFolder = '/usr/local/lib/firstlight';

/** In a pod, where the kubelet mounts the token of its account and the authority of the API. */
export const podAccountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Other names of our program: called by one of them, it does what that program did. */
export const torcxPrograms = { bootstrap: 'tectonic-torcx-bootstrap', hookPre: 'tectonic-torcx-hook-pre' } as const;
/** Upstream's daemon, which units written for it call; of it this program has the completion of a first boot. */
export const configDaemonProgram = 'machine-config-daemon';

export const cniPluginFolder = '/opt/cni/bin';
export const cniConfigFolder = '/etc/cni/net.d';

export const containerdSocket = '/run/containerd/containerd.sock';
export const containerdConfig = '/etc/containerd/config.toml';
/** Data of containerd. */
export const containerdFolder = '/var/lib/containerd';
/** Images of the release that the machine reads and can never change, where the platform has them. */
export const imageLayersFolder = '/var/lib/containerd-layers';
export const registryHostsFolder = '/etc/containerd/certs.d';

export const kubernetesFolder = '/etc/kubernetes';
export const staticPodFolder = '/etc/kubernetes/manifests';
/** The kubelet settings of every machine of a pool; part of the pool's MachineConfig. */
export const kubeletConfiguration = '/etc/kubernetes/kubelet-configuration.yaml';
/** The kubelet cannot start without it. Ignition writes it, or k8s-node-bootstrap.service where that runs first. */
export const kubeletEnvironment = '/etc/kubernetes/kubelet.env';
/** k8s-node-bootstrap.service makes `kubeletEnvironment` from this file. */
export const kubeletEnvironmentSeed = '/etc/kubernetes/installer/kubelet.env';
/** Which docker fits which Kubernetes, for a node that cannot ask the cluster. */
export const runtimeMappingsSeed = '/etc/kubernetes/installer/runtime-mappings.yaml';
/** The public keys by which a node verifies what is offered to it. */
export const torcxKeyringSeed = '/etc/kubernetes/installer/pubring.gpg';
/** Contains the single-use token. The config server adds this file to the configuration that it serves. */
export const bootstrapKubeconfig = '/etc/kubernetes/kubeconfig';
/** The agent writes it when the certificate of the node was signed. */
export const kubeletKubeconfig = '/var/lib/kubelet/kubeconfig';
/**
 * Certificate and key in one file; the kubelet's kubeconfig refers to it. A link, which the agent makes and every
 * renewal by the kubelet updates.
 */
export const kubeletClientCertificate = '/var/lib/kubelet/pki/kubelet-client-current.pem';
/** Registry credentials, at the kubelet's default path. The config server adds this file to what it serves. */
export const kubeletPullSecret = '/var/lib/kubelet/config.json';
/** The authority of the clients that the kubelet accepts. The config server adds this file to what it serves. */
export const kubeletClientCa = '/etc/kubernetes/kubelet-ca.crt';

/** The authority of the config server; public. Machines send their token only to servers that it has signed. */
export const configServerCa = '/etc/kubernetes/config-server-ca.crt';

export const kubeProxyConfiguration = '/etc/kubernetes/kube-proxy-configuration.yaml';
/** The agent writes it after the node has joined. */
export const kubeProxyKubeconfig = '/var/lib/kube-proxy/kubeconfig';

/** What kube-apiserver of a control-plane machine is told by files; part of the machine's configuration. */
export const apiserverConfigFolder = '/etc/kubernetes/kube-apiserver';
export const apiserverConfigFiles = {
  auditPolicy: `${apiserverConfigFolder}/audit-policy.yaml`,
  admission: `${apiserverConfigFolder}/admission.yaml`,
  authentication: `${apiserverConfigFolder}/authentication.yaml`,
} as const;
/** The number of the user and of the group whom these files belong to, and as whom kube-apiserver runs. */
export const apiserverUser = 60_712;
/** Only the container of kube-apiserver writes there. */
export const auditLogFolder = '/var/log/kube-apiserver';
export const auditLogFile = `${auditLogFolder}/audit.log`;

/** The records of bootkube and of the other services of a bootstrap: start and end of each of their stages. */
export const serviceRecordsFolder = '/var/log/firstlight';

/** Data of the etcd member of a control-plane machine. */
export const etcdDataFolder = '/var/lib/etcd';

/** The state of a machine's programs. On a host with local machines, it also contains the clusters of that host. */
export const machineStateFolder = '/var/lib/firstlight';

/** The units that Ignition enabled or disabled, for `systemctl preset`. */
export const ignitionPreset = '/etc/systemd/system-preset/20-ignition.preset';

/** Units that a configuration brings, and links that enable units. */
export const unitFolder = '/etc/systemd/system';
/** Units and masks that last until the next boot. The folder exists where systemd runs. */
export const runtimeUnitFolder = '/run/systemd/system';

/** Another text after every boot of the machine. */
export const bootIdFile = '/proc/sys/kernel/random/boot_id';

export const hostsFile = '/etc/hosts';
export const osReleaseFile = '/etc/os-release';
export const resolverFile = '/etc/resolv.conf';
export const sysctlFile = '/etc/sysctl.d/90-firstlight.conf';

/** Settings for the preparation of every machine of a pool; part of the pool's MachineConfig. */
export const nodeSettingsFile = '/etc/firstlight/node.json';

/** Which release the configuration belongs to, as `ReleaseReference` in JSON. Part of every pool's MachineConfig. */
export const releaseReferenceFile = '/etc/firstlight/release-image.json';

/** RELEASE_IMAGE and one image per component (bootkube-environment.ts). Part of the bootstrap machine's config. */
export const bootkubeEnvironmentFile = '/etc/firstlight/bootkube.env';

/** The proxy variables for units, without user and password. Part of the pool's MachineConfig. */
export const proxyEnvironment = '/etc/firstlight/proxy.env';
/** As `proxyEnvironment`, with user and password, and read after it. The config server adds it to what it serves. */
export const proxyCredentials = '/etc/firstlight/proxy-credentials.env';

/** Additional authorities, which update-ca-certificates adds to the trust store of the system. */
export const addedAuthorities = '/usr/local/share/ca-certificates';
/** The trust store of the system, written by update-ca-certificates. */
export const systemTrust = '/etc/ssl/certs/ca-certificates.crt';
/** Exists after the trust store of the system has been written in this boot. */
export const systemTrustMade = '/run/firstlight-trust-made';

/** The manifest of the release that this machine was made from; part of the machine image. */
export const releaseFile = '/usr/local/share/firstlight/release.json';
/** The reference of the image that this manifest is from. */
export const releaseImageFile = '/usr/local/share/firstlight/release-image.json';

/** Where a person may put a public key: then a machine changes only to a release that this key has signed. */
export const releaseKeyFile = '/etc/firstlight/release.pub';
/** Signatures of releases: `signatures/sha256=<digest>/signature-1` below it. */
export const releaseSignatureFolder = '/etc/firstlight';

/**
 * Which folder of a part of the release is where on a machine. Other parts run only from their image or on the
 * workstation.
 */
export const partPlaces: Readonly<Record<string, { readonly from: string; readonly to: string }>> = {
  kubernetes: { from: 'bin', to: programFolder },
  etcd: { from: 'bin', to: programFolder },
  containerd: { from: 'bin', to: programFolder },
  'containerd-shim': { from: 'bin', to: programFolder },
  'cri-tools': { from: 'bin', to: upstreamProgramFolder },
  ignition: { from: 'bin', to: programFolder },
  'ignition-validate': { from: 'bin', to: programFolder },
  cni: { from: 'bin', to: cniPluginFolder },
  node: { from: 'bin', to: `${firstlightFolder}/bin` },
  firstlight: { from: 'lib', to: `${firstlightFolder}/dist` },
};

/** Facts about this one machine, such as its name and addresses. Every boot finds them again; a reboot deletes them. */
export const runtimePaths = {
  folder: '/run/firstlight',
  /** NODE_NAME and NODE_IP. Exists when the machine is prepared for its kubelet. */
  environment: '/run/firstlight/node.env',
  containerdFolder: '/run/firstlight/containerd',
  containerdConfig: '/run/firstlight/containerd/machine.toml',
  kubeletFolder: '/run/firstlight/kubelet.conf.d',
  kubeletConfig: '/run/firstlight/kubelet.conf.d/machine.conf',
} as const;

/** Exists on a bootstrap machine after its last secret is deleted. No unit of the bootstrap starts after that. */
export const bootstrapFinished = '/var/lib/firstlight/bootstrap-finished';

/** The bootstrap machine's copy of the assets. rm-assets removes the whole folder. */
export const bootstrapFolder = '/opt/firstlight';

/** Signers, leaf certificates and trust bundles of a control-plane machine. */
export const controlPlanePki = '/etc/kubernetes/pki';

/** The files that the config server of a master reads, in addition to the API. */
export const masterConfigServerPaths = {
  /** Exists only if a MachineConfig of the user contains it. */
  settings: '/etc/firstlight/config-server.json',
  pkiFolder: controlPlanePki,
  /** The file that the master itself received. */
  proxyCredentials,
  /** The file that the master itself received. */
  pullSecret: kubeletPullSecret,
} as const;

/** What the config server of the bootstrap machine reads besides keys and rendered configurations. */
export const configServerFolder = `${bootstrapFolder}/config-server`;

/** The files that the config server of the bootstrap machine reads, and the one file that it writes. */
export const configServerPaths = {
  settings: `${configServerFolder}/settings.json`,
  /** The keys of masters and its own pair, and nothing else. */
  pkiFolder: `${bootstrapFolder}/tls`,
  poolTokens: `${configServerFolder}/pool-tokens.json`,
  /** The machines that are expected. */
  inventory: `${configServerFolder}/inventory.json`,
  kubeconfig: `${configServerFolder}/kubeconfig-kubelet`,
  /** Served to machines as their file `proxyCredentials`. */
  proxyCredentials: `${configServerFolder}/proxy-credentials.env`,
  /** Served to machines as their file `kubeletPullSecret`. On the bootstrap machine that path is a link to this. */
  pullSecret: `${configServerFolder}/pull-secret.json`,
  /** Written by stage 12 of bootkube: machine-pools/ and machine-configs/. */
  renderedFolder: `${bootstrapFolder}/render/12-machine-config`,
  /** Every single-use token that was served. bootkube turns the tokens into Secrets. */
  tokenLedger: `${bootstrapFolder}/served/tokens`,
} as const;
