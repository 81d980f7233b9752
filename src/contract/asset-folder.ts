// Paths inside an asset folder that more than one room names. bootkube finds the same paths below /opt/firstlight,
// where bootstrap.ign puts its copy of the assets.

/** Files that only Firstlight uses: journals, the lock, the log and generated helpers. */
export const ownFolder = '.firstlight';

/** The journal of `create cluster`. `destroy cluster` removes it first, so that the next cluster does not use it. */
export const clusterJournalPath = `${ownFolder}/cluster-journal`;

/** Where this host reaches the API of a cluster that has machines here; absent where the API is reached by its name. */
export const apiEndpointPath = `${ownFolder}/api-endpoint.json`;

/** The kubeconfig of the administrator, for where the administrator stands: a port of this host, or the API's name. */
export const adminKubeconfigPath = 'auth/kubeconfig';
/** For the day on which RBAC is broken, for the same place. */
export const breakGlassKubeconfigPath = 'auth/kubeconfig-break-glass';
/** The kubeconfig of the administrator for use inside the cluster's network, where `api-int` resolves. */
export const internalKubeconfigPath = 'auth/kubeconfig-internal';
/** The kubeconfig for programs of the bootstrap machine; its server is the API of that machine. */
export const loopbackKubeconfigPath = 'auth/kubeconfig-loopback';

/** The manifest that contains the install-config. */
export const clusterConfigPath = 'manifests/cluster-config.yaml';
