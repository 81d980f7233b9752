// Paths inside an asset folder that more than one room names. bootkube finds the same paths below /opt/firstlight,
// where bootstrap.ign puts its copy of the assets.

/** What belongs to Firstlight alone: journals, the lock, the log and generated helpers. */
export const ownFolder = '.firstlight';

/** The memory of `create cluster`. `destroy cluster` removes it first, so that the next cluster does not believe it. */
export const clusterJournalPath = `${ownFolder}/cluster-journal`;

/** The administrator's, by the name of the API. */
export const adminKubeconfigPath = 'auth/kubeconfig';
/** The administrator's, by the loopback port of a cluster on this host. */
export const localKubeconfigPath = 'auth/kubeconfig-local';
/** For programs of the bootstrap machine, by the API of that machine. */
export const loopbackKubeconfigPath = 'auth/kubeconfig-loopback';

/** The manifest that carries the install-config. */
export const clusterConfigPath = 'manifests/cluster-config.yaml';
