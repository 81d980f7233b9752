// The image variables of a bootstrap, with bootkube's names. A variable of a component names the image that renders its
// manifests: our own, or the one that `release build --component` was given. OpenShift's operators are not part of an
// upstream release, so by default the image of this program takes the place of each. The others name what runs.
import { ownImageVariable } from '../../contract/bootkube-environment.ts';

export interface ImageVariable {
  readonly variable: string;
  /** The image of the original. */
  readonly original: string;
  /** The image of this release that replaces it. */
  readonly image: string;
  /** The component that the image renders, by the name of its stage; absent for an image that renders nothing. */
  readonly component?: string;
  readonly why: string;
}

/** What renders a component: bootkube itself, by the function of our own image, or the `render` of another image. */
export type Renderer = 'built-in' | 'image' | 'nothing';

const rendering = (variable: string, original: string, component: string, why: string): ImageVariable => ({
  variable,
  original,
  image: 'firstlight',
  component,
  why,
});

const running = (variable: string, original: string, image: string, why: string): ImageVariable => ({
  variable,
  original,
  image,
  why,
});

export const imageVariables: readonly ImageVariable[] = [
  rendering(
    'KUBE_APISERVER_OPERATOR_IMAGE',
    'cluster-kube-apiserver-operator',
    'kube-apiserver',
    'renders the API server, which runs HYPERKUBE_IMAGE',
  ),
  rendering(
    'KUBE_CONTROLLER_MANAGER_OPERATOR_IMAGE',
    'cluster-kube-controller-manager-operator',
    'controller-manager',
    'renders the controller manager, which runs HYPERKUBE_IMAGE',
  ),
  rendering(
    'KUBE_SCHEDULER_OPERATOR_IMAGE',
    'cluster-kube-scheduler-operator',
    'scheduler',
    'renders the scheduler, which runs HYPERKUBE_IMAGE',
  ),
  rendering(
    'ETCD_OPERATOR_IMAGE',
    'cluster-etcd-operator',
    'etcd',
    'renders the first member, which runs ETCD_IMAGE; membership is ours',
  ),
  rendering(
    'AUTHENTICATION_OPERATOR_IMAGE',
    'cluster-authentication-operator',
    'authentication',
    'renders which issuers of tokens API servers believe; certificates work beside them',
  ),
  rendering('CONFIG_OPERATOR_IMAGE', 'cluster-config-operator', 'config', 'renders the cluster configuration objects'),
  rendering(
    'CVO_IMAGE',
    'cluster-version-operator',
    'version-operator',
    'renders the ClusterVersion and what the release brings; in the cluster it is the version operator',
  ),
  rendering(
    'CLUSTER_VERSION_OPERATOR_IMAGE',
    'cluster-version-operator',
    'version-operator',
    'another name of CVO_IMAGE',
  ),
  rendering(
    'INGRESS_OPERATOR_IMAGE',
    'cluster-ingress-operator',
    'ingress',
    'renders nothing: the version operator brings the ingress controller after the handoff',
  ),
  rendering(
    'MACHINE_CONFIG_OPERATOR_IMAGE',
    'machine-config-operator',
    'machine-config',
    'renders the configuration of machines, which the config server of FIRSTLIGHT_IMAGE serves',
  ),
  running(
    'CLUSTER_BOOTSTRAP_IMAGE',
    'cluster-bootstrap',
    'firstlight',
    'starts the temporary control plane and hands over',
  ),
  running('HYPERKUBE_IMAGE', 'hyperkube', 'kubernetes', 'every Kubernetes component in one image'),
  running('KUBE_PROXY_IMAGE', 'kube-proxy', 'kubernetes', 'the service proxy, where it runs as a pod'),
  running('ETCD_IMAGE', 'etcd', 'etcd', 'the database and its tools'),
  running('COREDNS_IMAGE', 'coredns', 'coredns', 'DNS of the cluster'),
  running('INFRA_IMAGE', 'pod', 'pause', 'holds the namespaces of a pod'),
  running(ownImageVariable, 'none', 'firstlight', 'config server, daemon and whatever else this program is'),
];

/** The components that an image may render, by name. */
export const renderedComponents: readonly string[] = [
  ...new Set(imageVariables.flatMap(({ component }) => (component === undefined ? [] : [component]))),
];

/** The name of the image that renders a component in place of ours: that of the original. */
export function componentImageName(component: string): string {
  return imageVariables.find((row) => row.component === component)?.original ?? component;
}
