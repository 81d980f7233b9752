// The image variables of a bootstrap, one per component, with bootkube's names. OpenShift's operators are not part of
// an upstream release: each row says which image of ours replaces one. `renders` says what makes the component's
// manifests: a stage of ours (`built-in`), or the `render` command of the image.

export interface ImageVariable {
  readonly variable: string;
  /** The image of the original. */
  readonly original: string;
  /** The image of this release that replaces it. */
  readonly image: string;
  readonly renders: 'built-in' | 'image';
  readonly why: string;
}

const component = (variable: string, original: string, image: string, why: string): ImageVariable => ({
  variable,
  original,
  image,
  renders: 'built-in',
  why,
});

export const imageVariables: readonly ImageVariable[] = [
  component(
    'KUBE_APISERVER_OPERATOR_IMAGE',
    'cluster-kube-apiserver-operator',
    'kubernetes',
    'the API server the operator would deploy',
  ),
  component(
    'KUBE_CONTROLLER_MANAGER_OPERATOR_IMAGE',
    'cluster-kube-controller-manager-operator',
    'kubernetes',
    'the controller manager the operator would deploy',
  ),
  component(
    'KUBE_SCHEDULER_OPERATOR_IMAGE',
    'cluster-kube-scheduler-operator',
    'kubernetes',
    'the scheduler the operator would deploy',
  ),
  component(
    'ETCD_OPERATOR_IMAGE',
    'cluster-etcd-operator',
    'etcd',
    'the etcd the operator would deploy; membership is ours',
  ),
  component(
    'AUTHENTICATION_OPERATOR_IMAGE',
    'cluster-authentication-operator',
    'firstlight',
    'which issuers of tokens API servers believe; certificates work beside them',
  ),
  component('CONFIG_OPERATOR_IMAGE', 'cluster-config-operator', 'firstlight', 'the cluster configuration objects'),
  component(
    'CVO_IMAGE',
    'cluster-version-operator',
    'firstlight',
    'the ClusterVersion object and the add-ons; nothing upgrades a release yet',
  ),
  component('CLUSTER_VERSION_OPERATOR_IMAGE', 'cluster-version-operator', 'firstlight', 'another name of CVO_IMAGE'),
  component(
    'INGRESS_OPERATOR_IMAGE',
    'cluster-ingress-operator',
    'firstlight',
    'nothing: no ingress controller is installed',
  ),
  component(
    'MACHINE_CONFIG_OPERATOR_IMAGE',
    'machine-config-operator',
    'firstlight',
    'config server, rendering and daemon',
  ),
  component(
    'CLUSTER_BOOTSTRAP_IMAGE',
    'cluster-bootstrap',
    'firstlight',
    'starts the temporary control plane and hands over',
  ),
  component('HYPERKUBE_IMAGE', 'hyperkube', 'kubernetes', 'every Kubernetes component in one image'),
  component('KUBE_PROXY_IMAGE', 'kube-proxy', 'kubernetes', 'the service proxy, where it runs as a pod'),
  component('ETCD_IMAGE', 'etcd', 'etcd', 'the database and its tools'),
  component('COREDNS_IMAGE', 'coredns', 'coredns', 'DNS of the cluster'),
  component('INFRA_IMAGE', 'pod', 'pause', 'holds the namespaces of a pod'),
];
