// The configuration of the cluster as objects for the API, each named `cluster`, with the values of the install-config.
// The version operator reads some of them for the manifests that it applies: names of the API, domain of applications,
// ranges, platform. A change of any other field changes nothing in the cluster until a controller for it exists.
import { parse as parseYaml } from 'yaml';
import { machineProxy } from '../../assets/proxy-and-mirrors.ts';
import { configurationGroup } from '../../contract/cluster-version.ts';
import { goCipherSuites, kubernetesTlsMinimum } from '../../contract/tls-policy.ts';
import { masterCount, platformOf, workerCount } from '../../install-config/cluster-facts.ts';
import { toYaml } from '../../kubernetes/yaml.ts';
import {
  type ConfigurationKind,
  configurationDefinition,
  configurationKinds,
} from '../../version-operator/configuration-kinds.ts';
import { readRendered } from '../checks.ts';
import type { BootkubeContext } from '../context.ts';
import type { StageCheck, StageFile } from '../render-stage.ts';
import { credentialStages } from '../rendered-credentials.ts';
import { configurationFolder } from '../rendered-manifests.ts';

interface Content {
  readonly spec: object;
  readonly status?: object;
}

const contents: Readonly<Record<ConfigurationKind, (context: BootkubeContext) => Content>> = {
  Infrastructure: ({ installConfig, names, infraId }) => ({
    spec: {
      platform: platformOf(installConfig),
      machineNetworks: installConfig.networking.machineNetwork.map(({ cidr }) => cidr),
    },
    status: {
      infrastructureName: infraId,
      platform: platformOf(installConfig),
      apiServerURL: names.apiUrl,
      apiServerInternalURI: names.apiInternalUrl,
      controlPlaneTopology: topologyOf(masterCount(installConfig)),
      infrastructureTopology: topologyOf(workerCount(installConfig) || masterCount(installConfig)),
    },
  }),
  Network: ({ installConfig: { networking } }) => {
    const { clusterNetwork, serviceNetwork, networkType } = networking;
    const values = { clusterNetwork, serviceNetwork, networkType };
    return { spec: values, status: values };
  },
  DNS: ({ names }) => ({ spec: { baseDomain: names.domain } }),
  Ingress: ({ names }) => ({ spec: { domain: `apps.${names.domain}` } }),
  Proxy: ({ installConfig }) => {
    const used = machineProxy(installConfig);
    if (used === undefined) return { spec: {} };
    const { noProxy, hasCredentials: _, ...urls } = used;
    const given = installConfig.proxy?.noProxy;
    return {
      spec: { ...urls, ...(given === undefined ? {} : { noProxy: given }) },
      status: { ...urls, noProxy: noProxy.join(',') },
    };
  },
  APIServer: ({ installConfig }) => ({
    spec: {
      audit: { profile: auditProfiles[installConfig.security.auditLog] },
      encryption: { type: 'secretbox' },
      tlsSecurityProfile: {
        type: 'Custom',
        custom: { minTLSVersion: kubernetesTlsMinimum, ciphers: goCipherSuites },
      },
    },
  }),
  OAuth: ({ installConfig: { authentication } }) => ({
    spec: {
      identityProviders: authentication.jwt.map(({ issuer: { url, audiences } }) => ({
        name: new URL(url).host,
        type: 'OpenID',
        openID: { issuer: url, audiences },
      })),
    },
  }),
  Scheduler: ({ installConfig }) => ({ spec: { mastersSchedulable: workerCount(installConfig) === 0 } }),
};

const auditProfiles = { none: 'None', metadata: 'Default', request: 'WriteRequestBodies' } as const;

function topologyOf(machines: number): string {
  return machines === 1 ? 'SingleReplica' : 'HighlyAvailable';
}

const kinds = Object.keys(configurationKinds) as readonly ConfigurationKind[];

/** The definition of each kind, and its object. */
export function configurationFiles(context: BootkubeContext): readonly StageFile[] {
  return kinds.flatMap((kind) => {
    const { plural } = configurationKinds[kind];
    const identity = { apiVersion: `${configurationGroup}/v1`, kind, metadata: { name: 'cluster' } };
    return [
      { path: `${configurationFolder}/crd-${plural}.yaml`, content: toYaml(configurationDefinition(kind)) },
      { path: `${configurationFolder}/${plural}.yaml`, content: toYaml({ ...identity, ...contents[kind](context) }) },
    ];
  });
}

/** The API would refuse such an object, long after the stage that rendered it. */
export const configurationIsWhole: StageCheck = {
  name: 'every configuration object has the fields that its definition requires',
  run: async (context) => {
    for (const kind of kinds) {
      const { plural, spec } = configurationKinds[kind];
      const path = `${configurationFolder}/${plural}.yaml`;
      const object = parseYaml(await readRendered(context, credentialStages.config, path)) as {
        readonly spec?: object;
      };
      const given = Object.keys(object.spec ?? {});
      const required = (spec['required'] ?? []) as readonly string[];
      const missing = required.find((field) => !given.includes(field));
      if (missing !== undefined) return `${path}: spec.${missing} is missing`;
      const known = Object.keys(spec['properties'] as object);
      const strange = given.find((field) => !known.includes(field));
      if (strange !== undefined) return `${path}: its definition has no spec.${strange}`;
    }
    return undefined;
  },
};
