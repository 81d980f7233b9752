// The kinds of the cluster's configuration objects: the names and the fields that tools for such clusters look for, as
// far as this cluster has something to say in them. `kubectl explain` shows the texts.
import { configurationGroup } from '../contract/cluster-version.ts';
import { kubernetesTlsMinimum } from '../contract/tls-policy.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { type CustomKind, customResourceDefinition } from '../machine-config/crds.ts';

type Schema = Readonly<Record<string, unknown>>;
type Column = CustomKind['columns'][number];

const text = (description: string): Schema => ({ type: 'string', description });
const choice = (description: string, values: readonly string[]): Schema => ({ ...text(description), enum: values });
const list = (description: string, items: Schema): Schema => ({ type: 'array', description, items });
const fields = (
  description: string,
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[] = [],
): Schema => ({ type: 'object', description, properties, ...(required.length === 0 ? {} : { required }) });

const column = (name: string, jsonPath: string, type = 'string'): Column => ({ name, type, jsonPath });
const age = column('Age', '.metadata.creationTimestamp', 'date');

const cidr = (what: string): Schema => text(`${what}, as a range such as 10.99.0.0/24.`);
const networkFields = {
  clusterNetwork: list(
    'Where pods have their addresses.',
    fields(
      '',
      {
        cidr: cidr('What all pods share'),
        hostPrefix: { type: 'integer', description: 'Of the piece that each node gets.' },
      },
      ['cidr', 'hostPrefix'],
    ),
  ),
  serviceNetwork: list('Where Services have their addresses.', cidr('The range')),
  networkType: text('What connects pods across machines.'),
};

const topologies = ['HighlyAvailable', 'SingleReplica'];

export const configurationKinds = {
  Infrastructure: {
    kind: 'Infrastructure',
    plural: 'infrastructures',
    why: 'Where the machines of the cluster come from, and under which names its API is reached.',
    spec: fields('As the install-config asks for it.', {
      platform: text('Who makes the machines.'),
      machineNetworks: list('Where machines have their addresses.', cidr('One range')),
    }),
    status: fields('What follows from it.', {
      infrastructureName: text('Names everything that belongs to this cluster and to no other of the same name.'),
      platform: text('As in spec.'),
      apiServerURL: text('The API for people.'),
      apiServerInternalURI: text('The API for machines.'),
      controlPlaneTopology: choice('Whether the control plane survives the loss of a master.', topologies),
      infrastructureTopology: choice('Whether workloads survive the loss of a machine.', topologies),
    }),
    columns: [
      column('Platform', '.spec.platform'),
      column('Control plane', '.status.controlPlaneTopology'),
      column('API', '.status.apiServerURL'),
      age,
    ],
  },
  Network: {
    kind: 'Network',
    plural: 'networks',
    why: 'The ranges of pods and Services. They cannot be changed while the cluster stands.',
    spec: fields('As the install-config asks for it.', networkFields, [
      'clusterNetwork',
      'serviceNetwork',
      'networkType',
    ]),
    status: fields('What is in force.', networkFields),
    columns: [
      column('Type', '.spec.networkType'),
      column('Pods', '.spec.clusterNetwork[*].cidr'),
      column('Services', '.spec.serviceNetwork[*]'),
      age,
    ],
  },
  DNS: {
    kind: 'DNS',
    plural: 'dnses',
    why: 'The domain of the cluster. Its names outside of the cluster are kept by the platform, or by you.',
    spec: fields('', { baseDomain: text('Everything of the cluster is called below it.') }, ['baseDomain']),
    columns: [column('Domain', '.spec.baseDomain'), age],
  },
  Ingress: {
    kind: 'Ingress',
    plural: 'ingresses',
    why: 'Under which domain applications are reached. The capability Ingress brings the controller that answers there; without it, bring your own.',
    spec: fields('', { domain: text('Every application of the cluster has its name below it.') }, ['domain']),
    columns: [column('Domain', '.spec.domain'), age],
  },
  Proxy: {
    kind: 'Proxy',
    plural: 'proxies',
    why: 'How machines reach the world. Users and passwords of the proxy are never here.',
    spec: fields('As the install-config asks for it.', {
      httpProxy: text('For http: URLs.'),
      httpsProxy: text('For https: URLs.'),
      noProxy: text('What is reached directly, with commas between.'),
    }),
    status: fields('What machines use.', {
      httpProxy: text('As in spec.'),
      httpsProxy: text('As in spec.'),
      noProxy: text('With the names and the ranges of the cluster itself.'),
    }),
    columns: [column('HTTP proxy', '.status.httpProxy'), column('HTTPS proxy', '.status.httpsProxy'), age],
  },
  APIServer: {
    kind: 'APIServer',
    plural: 'apiservers',
    why: 'What every API server of the cluster records, encrypts and speaks.',
    spec: fields('', {
      audit: fields('The audit log.', {
        profile: choice('None, who did what (Default), or also what was sent (WriteRequestBodies).', [
          'None',
          'Default',
          'WriteRequestBodies',
        ]),
      }),
      encryption: fields('How Secrets are encrypted in etcd.', { type: choice('The method.', ['secretbox']) }),
      tlsSecurityProfile: fields('Which TLS is spoken.', {
        type: choice('Always Custom: what is accepted is listed.', ['Custom']),
        custom: fields('', {
          minTLSVersion: choice('The oldest version.', [kubernetesTlsMinimum]),
          ciphers: list('The suites of that version.', text('A suite.')),
        }),
      }),
    }),
    columns: [
      column('Audit', '.spec.audit.profile'),
      column('Encryption', '.spec.encryption.type'),
      column('TLS', '.spec.tlsSecurityProfile.custom.minTLSVersion'),
      age,
    ],
  },
  OAuth: {
    kind: 'OAuth',
    plural: 'oauths',
    why: 'Who vouches for people besides the authority of the cluster itself. There is no OAuth server: API servers read the tokens of these issuers.',
    spec: fields('', {
      identityProviders: list(
        'The issuers of the install-config. None of them: people come with certificates alone.',
        fields(
          '',
          {
            name: text('For people.'),
            type: choice('How it vouches.', ['OpenID']),
            openID: fields('', {
              issuer: text('Its URL.'),
              audiences: list('For whom its tokens are.', text('One of them.')),
            }),
          },
          ['name', 'type'],
        ),
      ),
    }),
    columns: [column('Issuers', '.spec.identityProviders[*].openID.issuer'), age],
  },
  Scheduler: {
    kind: 'Scheduler',
    plural: 'schedulers',
    why: 'Where pods may run.',
    spec: fields('', { mastersSchedulable: { type: 'boolean', description: 'Masters run pods of everybody.' } }, [
      'mastersSchedulable',
    ]),
    columns: [column('Masters schedulable', '.spec.mastersSchedulable', 'boolean'), age],
  },
} as const satisfies Readonly<Record<string, CustomKind>>;

export type ConfigurationKind = keyof typeof configurationKinds;

export function configurationDefinition(kind: ConfigurationKind): KubernetesObject {
  return customResourceDefinition({ ...configurationKinds[kind], group: configurationGroup });
}

export const configurationDefinitions: readonly KubernetesObject[] = (
  Object.keys(configurationKinds) as readonly ConfigurationKind[]
).map(configurationDefinition);
