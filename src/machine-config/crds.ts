// The definitions of the kinds of machineconfiguration.openshift.io and of MachineConfiguration, as far as we use them,
// with the printer columns of upstream. Fields that existing objects may carry and we do not read are kept by the API,
// so that a file from another cluster loses nothing.
import { driftPolicies, machineConfigGroup, machineConfigurationObject } from '../contract/machine-config-node.ts';
import { poolHistoryLength } from '../contract/machine-config-pool.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { policyActionTypes } from './disruption-policies.ts';

type Schema = Readonly<Record<string, unknown>>;

const text: Schema = { type: 'string' };
const texts: Schema = { type: 'array', items: text };
const flag: Schema = { type: 'boolean' };
const time: Schema = { type: 'string', format: 'date-time' };
const count: Schema = { type: 'integer', format: 'int32' };
const texted: Schema = { type: 'object', additionalProperties: text };
const anything: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const object = (properties: Readonly<Record<string, Schema>>): Schema => ({
  type: 'object',
  'x-kubernetes-preserve-unknown-fields': true,
  properties,
});

const selector: Schema = {
  type: 'object',
  properties: {
    matchLabels: texted,
    matchExpressions: {
      type: 'array',
      items: {
        type: 'object',
        required: ['key', 'operator'],
        properties: { key: text, operator: text, values: texts },
      },
    },
  },
};
const configuration: Schema = object({ name: text, source: { type: 'array', items: anything } });
const condition: Schema = object({
  type: text,
  status: text,
  reason: text,
  message: text,
  lastTransitionTime: time,
});

const age = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

/** A kind of objects without a namespace. */
export interface CustomKind {
  /** Default `machineConfigGroup`. */
  readonly group?: string;
  readonly kind: string;
  readonly plural: string;
  readonly shortName?: string;
  /** For `kubectl explain`. */
  readonly why?: string;
  readonly spec: Schema;
  readonly status?: Schema;
  readonly columns: readonly {
    readonly name: string;
    readonly type: string;
    readonly jsonPath: string;
    /** Above 0 only `-o wide` shows it. */
    readonly priority?: number;
  }[];
}

const machineConfig: CustomKind = {
  kind: 'MachineConfig',
  plural: 'machineconfigs',
  shortName: 'mc',
  spec: object({
    config: { ...anything, nullable: true },
    kernelArguments: { ...texts, nullable: true },
    extensions: { ...texts, nullable: true },
    fips: flag,
    kernelType: text,
    osImageURL: text,
    baseOSExtensionsContainerImage: text,
  }),
  columns: [
    {
      name: 'GeneratedByController',
      type: 'string',
      jsonPath: `.metadata.annotations['${machineConfigGroup.replaceAll('.', '\\.')}/generated-by-controller-version']`,
    },
    { name: 'IgnitionVersion', type: 'string', jsonPath: '.spec.config.ignition.version' },
    age,
  ],
};

const machineConfigPool: CustomKind = {
  kind: 'MachineConfigPool',
  plural: 'machineconfigpools',
  shortName: 'mcp',
  spec: object({
    machineConfigSelector: selector,
    nodeSelector: selector,
    paused: flag,
    maxUnavailable: { anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true },
    configuration,
    driftPolicy: { type: 'string', enum: driftPolicies },
  }),
  status: object({
    observedGeneration: { type: 'integer', format: 'int64' },
    configuration,
    machineCount: count,
    updatedMachineCount: count,
    readyMachineCount: count,
    unavailableMachineCount: count,
    degradedMachineCount: count,
    conditions: { type: 'array', items: condition },
    history: {
      type: 'array',
      maxItems: poolHistoryLength,
      items: object({ name: text, state: text, startedAt: time, completedAt: time, sources: texts }),
    },
  }),
  columns: [
    { name: 'Config', type: 'string', jsonPath: '.status.configuration.name' },
    { name: 'Updated', type: 'string', jsonPath: '.status.conditions[?(@.type=="Updated")].status' },
    { name: 'Updating', type: 'string', jsonPath: '.status.conditions[?(@.type=="Updating")].status' },
    { name: 'Degraded', type: 'string', jsonPath: '.status.conditions[?(@.type=="Degraded")].status' },
    { name: 'MachineCount', type: 'number', jsonPath: '.status.machineCount' },
    { name: 'ReadyMachineCount', type: 'number', jsonPath: '.status.readyMachineCount' },
    { name: 'UpdatedMachineCount', type: 'number', jsonPath: '.status.updatedMachineCount' },
    { name: 'DegradedMachineCount', type: 'number', jsonPath: '.status.degradedMachineCount' },
    age,
  ],
};

const controllerConfig: CustomKind = {
  kind: 'ControllerConfig',
  plural: 'controllerconfigs',
  spec: object({
    clusterDNSIP: text,
    clusterDomain: text,
    apiServerInternalURL: text,
    images: texted,
    osImageURL: text,
    network: object({ clusterNetworks: texts, machineNetworks: texts }),
    mastersSchedulable: flag,
    machines: object({ sharesHost: flag }),
    controlPlane: anything,
    security: object({ auditLog: text, podSecurity: object({ enforce: text, warn: text }), seccompDefault: flag }),
    authentication: object({ jwt: { type: 'array', items: anything } }),
    rootCAData: { type: 'string', format: 'byte' },
    kubeletEnvironment: texted,
    proxy: object({ httpProxy: text, httpsProxy: text, noProxy: text, hasCredentials: flag }),
    additionalTrustBundle: { type: 'string', format: 'byte' },
    featureGates: { type: 'object', additionalProperties: flag },
    nodeBootstrap: object({
      torcx: object({
        upgradeOS: flag,
        skipSetup: flag,
        manifestURL: text,
        runtimeMappings: text,
        keyring: text,
        flags: texts,
      }),
      units: { type: 'array', items: anything },
    }),
    registries: { type: 'array', items: anything },
  }),
  columns: [age],
};

const kubeletConfig: CustomKind = {
  kind: 'KubeletConfig',
  plural: 'kubeletconfigs',
  spec: object({
    machineConfigPoolSelector: selector,
    kubeletConfig: { ...anything, nullable: true },
    logLevel: { ...count, minimum: 0, maximum: 10 },
    autoSizingReserved: flag,
    tlsSecurityProfile: { ...anything, nullable: true },
  }),
  status: object({
    observedGeneration: { type: 'integer', format: 'int64' },
    conditions: { type: 'array', items: condition },
  }),
  columns: [age],
};

const unitAction: Schema = { type: 'object', required: ['serviceName'], properties: { serviceName: text } };
const policyActions: Schema = {
  type: 'array',
  minItems: 1,
  items: {
    type: 'object',
    required: ['type'],
    properties: { type: { type: 'string', enum: policyActionTypes }, reload: unitAction, restart: unitAction },
  },
};
const policiesOf = (key: 'path' | 'name'): Schema => ({
  type: 'array',
  maxItems: 50,
  items: { type: 'object', required: [key, 'actions'], properties: { [key]: text, actions: policyActions } },
});

const machineConfiguration: CustomKind = {
  group: machineConfigurationObject.apiVersion.split('/')[0] ?? '',
  kind: machineConfigurationObject.kind,
  plural: 'machineconfigurations',
  spec: object({
    nodeDisruptionPolicy: {
      type: 'object',
      properties: {
        files: policiesOf('path'),
        units: policiesOf('name'),
        sshkey: { type: 'object', required: ['actions'], properties: { actions: policyActions } },
      },
    },
  }),
  status: anything,
  columns: [age],
};

export const machineConfigCrds = [
  machineConfig,
  machineConfigPool,
  controllerConfig,
  kubeletConfig,
  machineConfiguration,
].map((kind) => customResourceDefinition(kind));

export function customResourceDefinition({
  group = machineConfigGroup,
  kind,
  plural,
  shortName,
  why,
  spec,
  status,
  columns,
}: CustomKind): KubernetesObject {
  const singular = kind.toLowerCase();
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Cluster',
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular,
        ...(shortName === undefined ? {} : { shortNames: [shortName] }),
      },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          ...(status === undefined ? {} : { subresources: { status: {} } }),
          additionalPrinterColumns: columns,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              ...(why === undefined ? {} : { description: why }),
              required: ['spec'],
              properties: {
                apiVersion: text,
                kind: text,
                metadata: { type: 'object' },
                spec,
                ...(status === undefined ? {} : { status }),
              },
            },
          },
        },
      ],
    },
  };
}
