// The objects of the ingress controller. Its two pods are on different machines where that is possible. One that ends
// says so to the load balancer first, serves for as long as that needs to hear it, and then finishes what it began.
import { ingressHealthPath, ingressNodePorts } from '../contract/ports.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { toYaml } from '../kubernetes/yaml.ts';
import {
  accountWithRights,
  apartFrom,
  preferMachines,
  restrictedContainer,
  restrictedNamespace,
  restrictedPod,
  toleratesMasters,
} from './add-on-pods.ts';
import { valueOf } from './payload-values.ts';

export const ingressNamespace = 'openshift-ingress';
/** Of the Deployment, its account, its Service and its ConfigMap. */
export const routerName = 'router-default';
export const ingressClassName = 'traefik';
/** For whoever wants to trust the default certificate: the certificate of its signer. */
export const ingressSigner = {
  namespace: ingressNamespace,
  name: 'default-ingress-cert',
  key: 'ca-bundle.crt',
} as const;

const namespace = ingressNamespace;
const name = routerName;
const labels = { app: name } as const;
const containerPorts = { http: 8080, https: 8443, health: 8082 } as const;
const settingsFolder = '/etc/traefik/settings';

export interface IngressPayload {
  readonly image: string;
  /** The Secret with the default certificate. */
  readonly certificate: string;
}

export function ingressObjects({ image, certificate }: IngressPayload): readonly KubernetesObject[] {
  return [
    restrictedNamespace(namespace),
    ...accountWithRights({ namespace, name }, { inCluster: clusterRules }),
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: ingressSigner.name, namespace } },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { 'tls.yaml': toYaml(tlsSettings) } },
    ingressClass,
    service,
    budget,
    deployment(image, certificate),
  ];
}

const read = ['get', 'list', 'watch'] as const;

/** It reads the Secrets of all namespaces: an Ingress may name any of its own, and a role cannot say "only those". */
const clusterRules = [
  { apiGroups: [''], resources: ['services', 'secrets', 'nodes'], verbs: read },
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: read },
  { apiGroups: ['networking.k8s.io'], resources: ['ingresses', 'ingressclasses'], verbs: read },
  { apiGroups: ['networking.k8s.io'], resources: ['ingresses/status'], verbs: ['update'] },
] as const;

/** In one folder with the certificate, so that Traefik sees when either changes. */
const tlsSettings = {
  tls: {
    stores: {
      default: {
        defaultCertificate: { certFile: `${settingsFolder}/tls.crt`, keyFile: `${settingsFolder}/tls.key` },
      },
    },
  },
} as const;

const ingressClass: KubernetesObject = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'IngressClass',
  metadata: { name: ingressClassName, annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } },
  spec: { controller: 'traefik.io/ingress-controller' },
};

const service: KubernetesObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace, labels },
  spec: {
    type: 'NodePort',
    // A node without a pod of it does not answer: so the load balancer knows by asking the node.
    externalTrafficPolicy: 'Local',
    selector: labels,
    ports: [
      { name: 'http', port: 80, targetPort: 'http', nodePort: ingressNodePorts.http, protocol: 'TCP' },
      { name: 'https', port: 443, targetPort: 'https', nodePort: ingressNodePorts.https, protocol: 'TCP' },
      { name: 'health', port: 8082, targetPort: 'health', nodePort: ingressNodePorts.health, protocol: 'TCP' },
    ],
  },
};

const budget: KubernetesObject = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name, namespace },
  spec: { maxUnavailable: 1, selector: { matchLabels: labels } },
};

function deployment(image: string, certificate: string): KubernetesObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace, labels },
    spec: {
      replicas: 2,
      // One that has just started may not know all Ingresses yet.
      minReadySeconds: 5,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: podSpec(image, certificate) },
    },
  };
}

function podSpec(image: string, certificate: string): object {
  return {
    serviceAccountName: name,
    tolerations: toleratesMasters,
    affinity: { nodeAffinity: preferMachines('workers'), podAntiAffinity: apartFrom(labels) },
    // Longer than the two grace times of the entry points.
    terminationGracePeriodSeconds: 40,
    securityContext: { ...restrictedPod, fsGroup: restrictedPod.runAsGroup },
    containers: [container(image)],
    volumes: [
      {
        name: 'settings',
        projected: { defaultMode: 0o440, sources: [{ configMap: { name } }, { secret: { name: certificate } }] },
      },
    ],
  };
}

/** While it ends, it first fails its health check and takes requests; then it takes none and finishes those it has. */
function entryPoint(entry: keyof typeof containerPorts): readonly string[] {
  const prefix = `--entrypoints.${entry}`;
  return [
    `${prefix}.address=:${containerPorts[entry]}`,
    `${prefix}.transport.lifecycle.requestacceptgracetimeout=10s`,
    `${prefix}.transport.lifecycle.gracetimeout=20s`,
    // The health port is for nobody's Ingress.
    ...(entry === 'health' ? [] : [`${prefix}.asdefault=true`]),
  ];
}

function container(image: string): object {
  const probe = (): object => ({ httpGet: { path: ingressHealthPath, port: 'health' }, periodSeconds: 2 });
  return {
    name: 'traefik',
    image,
    imagePullPolicy: 'IfNotPresent',
    args: [
      '--global.checknewversion=false',
      '--global.sendanonymoususage=false',
      '--log.level=INFO',
      '--log.nocolor=true',
      ...entryPoint('http'),
      ...entryPoint('https'),
      ...entryPoint('health'),
      '--entrypoints.https.http.tls=true',
      '--ping=true',
      '--ping.entrypoint=health',
      `--providers.file.directory=${settingsFolder}`,
      '--providers.kubernetesingress=true',
      // In the status of every Ingress.
      `--providers.kubernetesingress.ingressendpoint.hostname=ingress.${valueOf('APPS_DOMAIN')}`,
      // A Service without pods is answered with 503, and not as if there were no Ingress.
      '--providers.kubernetesingress.allowemptyservices=true',
      // /shop is not a prefix of /shopping, as Kubernetes defines it.
      '--providers.kubernetesingress.strictprefixmatching=true',
      '--providers.providersthrottleduration=500ms',
    ],
    ports: Object.entries(containerPorts).map(([port, containerPort]) => ({ name: port, containerPort })),
    resources: { requests: { cpu: '50m', memory: '96Mi' }, limits: { memory: '512Mi' } },
    livenessProbe: { ...probe(), failureThreshold: 30 },
    readinessProbe: { ...probe(), initialDelaySeconds: 2 },
    securityContext: restrictedContainer,
    volumeMounts: [{ name: 'settings', mountPath: settingsFolder, readOnly: true }],
  };
}
