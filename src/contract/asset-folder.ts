// Paths inside an asset folder that more than one room names. bootkube finds the same paths below /opt/firstlight,
// where bootstrap.ign puts its copy of the assets.

/** Files that only Firstlight uses: journals, the lock, the log and generated helpers. */
export const ownFolder = '.firstlight';

/** The journal of `create cluster`. `destroy cluster` removes it first, so that the next cluster does not use it. */
export const clusterJournalPath = `${ownFolder}/cluster-journal`;

/** The kubeconfig of the administrator; its server is the DNS name of the API. */
export const adminKubeconfigPath = 'auth/kubeconfig';
/** The kubeconfig of the administrator for a cluster on this host; its server is a loopback port. */
export const localKubeconfigPath = 'auth/kubeconfig-local';
/** The kubeconfig for programs of the bootstrap machine; its server is the API of that machine. */
export const loopbackKubeconfigPath = 'auth/kubeconfig-loopback';

/** The manifest that contains the install-config. */
export const clusterConfigPath = 'manifests/cluster-config.yaml';
