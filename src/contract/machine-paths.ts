// Where things are on a machine. Units, configurations, the machine root and the agent all read these names, so that
// no two of them can disagree about a path.

/** Programs of the machine root (the release puts them there). */
export const programs = {
  firstlight: '/usr/local/bin/firstlight',
  kubelet: '/usr/local/bin/kubelet',
  kubeProxy: '/usr/local/bin/kube-proxy',
  containerd: '/usr/local/bin/containerd',
  etcd: '/usr/local/bin/etcd',
  systemctl: '/usr/bin/systemctl',
  nft: '/usr/sbin/nft',
  updateCaCertificates: '/usr/sbin/update-ca-certificates',
  test: '/usr/bin/test',
  touch: '/usr/bin/touch',
} as const;

export const cniPluginFolder = '/opt/cni/bin';
export const cniConfigFolder = '/etc/cni/net.d';

export const containerdSocket = '/run/containerd/containerd.sock';
export const containerdConfig = '/etc/containerd/config.toml';
export const registryHostsFolder = '/etc/containerd/certs.d';

export const kubernetesFolder = '/etc/kubernetes';
export const staticPodFolder = '/etc/kubernetes/manifests';
/** The kubelet's settings that hold for every machine of a pool; part of the pool's MachineConfig. */
export const kubeletConfiguration = '/etc/kubernetes/kubelet-configuration.yaml';
/** Present = the kubelet may start. Written by Ignition, or by k8s-node-bootstrap.service where that runs first. */
export const kubeletEnvironment = '/etc/kubernetes/kubelet.env';
/** What k8s-node-bootstrap.service makes `kubeletEnvironment` from. */
export const kubeletEnvironmentSeed = '/etc/kubernetes/installer/kubelet.env';
/** With the single-use token; the config server adds it to what it serves. */
export const bootstrapKubeconfig = '/etc/kubernetes/kubeconfig';
/** The kubelet writes it when its certificate was signed. */
export const kubeletKubeconfig = '/var/lib/kubelet/kubeconfig';
/** Certificate and key in one file, to which the kubelet's kubeconfig points; a link that follows every renewal. */
export const kubeletClientCertificate = '/var/lib/kubelet/pki/kubelet-client-current.pem';
/** Credentials for registries, where the kubelet looks for them. The config server adds it to what it serves. */
export const kubeletPullSecret = '/var/lib/kubelet/config.json';
/** Signs the clients that the kubelet answers; the config server adds it to what it serves. */
export const kubeletClientCa = '/etc/kubernetes/kubelet-ca.crt';

/** The authority of the config server; public. A machine sends its token only to a server that it signed. */
export const configServerCa = '/etc/kubernetes/config-server-ca.crt';

export const kubeProxyConfiguration = '/etc/kubernetes/kube-proxy-configuration.yaml';
/** Written by the agent once the node has joined. */
export const kubeProxyKubeconfig = '/var/lib/kube-proxy/kubeconfig';

/** Data of the etcd member of a control-plane machine. */
export const etcdDataFolder = '/var/lib/etcd';

/** What the programs of a machine remember; on a host of local machines, the clusters of that host are below it. */
export const machineStateFolder = '/var/lib/firstlight';

export const hostsFile = '/etc/hosts';
export const resolverFile = '/etc/resolv.conf';
export const sysctlFile = '/etc/sysctl.d/90-firstlight.conf';

/** Settings for the preparation of every machine of a pool; part of the pool's MachineConfig. */
export const nodeSettingsFile = '/etc/firstlight/node.json';

/** The way out to the world, for units; without user and password. Part of the pool's MachineConfig. */
export const proxyEnvironment = '/etc/firstlight/proxy.env';
/** The same variables with user and password, read after the one above. The config server adds it to what it serves. */
export const proxyCredentials = '/etc/firstlight/proxy-credentials.env';

/** Authorities that update-ca-certificates puts into the system's trust besides its own. */
export const addedAuthorities = '/usr/local/share/ca-certificates';
/** The system's trust, as update-ca-certificates writes it. */
export const systemTrust = '/etc/ssl/certs/ca-certificates.crt';
/** Present once the system's trust has been made in this boot. */
export const systemTrustMade = '/run/firstlight-trust-made';

/** The release this machine was made from, as the machine image carries it. */
export const releaseFile = '/usr/local/share/firstlight/release.json';

/** What only this machine can know, found anew at every boot; nothing in it survives a reboot. */
export const runtimePaths = {
  folder: '/run/firstlight',
  /** NODE_NAME and NODE_IP. Present = the machine is prepared for its kubelet. */
  environment: '/run/firstlight/node.env',
  containerdFolder: '/run/firstlight/containerd',
  containerdConfig: '/run/firstlight/containerd/machine.toml',
  kubeletFolder: '/run/firstlight/kubelet.conf.d',
  kubeletConfig: '/run/firstlight/kubelet.conf.d/machine.conf',
} as const;

/** Present on a bootstrap machine once its last secret is gone; nothing of the bootstrap starts again after that. */
export const bootstrapFinished = '/var/lib/firstlight/bootstrap-finished';

/** Where the bootstrap machine keeps what it was given; rm-assets removes the whole folder. */
export const bootstrapFolder = '/opt/firstlight';

/** Signers, leaves and trust bundles of a control-plane machine. */
export const controlPlanePki = '/etc/kubernetes/pki';

/** What the config server of a master reads beside the API. */
export const masterConfigServerPaths = {
  /** Not there unless a MachineConfig of the user brings it. */
  settings: '/etc/firstlight/config-server.json',
  pkiFolder: controlPlanePki,
  /** The same that the master itself was given. */
  proxyCredentials,
  /** The same that the master itself was given. */
  pullSecret: kubeletPullSecret,
} as const;

/** What the config server of the bootstrap machine reads, and the one file it writes. */
export const configServerPaths = {
  settings: `${bootstrapFolder}/config-server.json`,
  pkiFolder: `${bootstrapFolder}/tls`,
  poolTokens: `${bootstrapFolder}/auth/pool-tokens.json`,
  kubeconfig: `${bootstrapFolder}/auth/kubeconfig-kubelet`,
  /** What machines find at `proxyCredentials`. */
  proxyCredentials: `${bootstrapFolder}/auth/proxy-credentials.env`,
  /** What machines find at `kubeletPullSecret`; there on the bootstrap machine is a link to it. */
  pullSecret: `${bootstrapFolder}/auth/pull-secret.json`,
  /** Written by stage 12 of bootkube: machine-pools/ and machine-configs/. */
  renderedFolder: `${bootstrapFolder}/render/12-machine-config`,
  /** Every single-use token that was served; bootkube makes Secrets of them. */
  tokenLedger: `${bootstrapFolder}/served/tokens`,
} as const;
