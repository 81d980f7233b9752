// The objects of machineconfiguration.openshift.io/v1 as far as we use them, with upstream's field names. Unknown
// fields are warnings, as the API prunes them; types are checked strictly, and all code behind this file may rely on
// them.
import { z } from 'zod';
import { authenticationSettingsSchema } from '../contract/authentication-settings.ts';
import { driftPolicies, machineConfigGroup } from '../contract/machine-config-node.ts';
import { controlPlaneFactsSchema } from '../contract/node-settings.ts';
import { hardenedSettings, securitySettingsSchema } from '../contract/security-settings.ts';
import type { IgnitionConfig, Unit } from '../ignition/config.ts';
import { latestSpec } from '../ignition/spec-version.ts';

export const apiVersion = `${machineConfigGroup}/v1`;
export const roleLabel = `${machineConfigGroup}/role`;
/** On generated MachineConfigs; their osImageURL is a default, not the choice of a user. */
export const generatedAnnotation = `${machineConfigGroup}/generated-by-controller-version`;
export const osImageOverriddenAnnotation = `${machineConfigGroup}/os-image-url-overridden`;

export const kernelTypes = ['', 'default', 'realtime', '64k-pages'] as const;
export type KernelType = (typeof kernelTypes)[number];

const strings = z.record(z.string(), z.string());
export const objectMetadataSchema = z.object({
  name: z.string().min(1),
  labels: strings.nullish().transform((labels) => labels ?? {}),
  annotations: strings.nullish().transform((annotations) => annotations ?? {}),
});
const list = z
  .array(z.string())
  .nullish()
  .transform((items) => items ?? []);
const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '');

/** What a file or the API holds. `config` is still raw: Ignition has its own reader. */
export const machineConfigSchema = z.object({
  apiVersion: z.literal(apiVersion),
  kind: z.literal('MachineConfig'),
  metadata: objectMetadataSchema,
  spec: z
    .object({
      config: z.unknown().optional(),
      kernelArguments: list,
      extensions: list,
      fips: z
        .boolean()
        .nullish()
        .transform((value) => value ?? false),
      kernelType: z
        .enum(kernelTypes)
        .nullish()
        .transform((value) => value ?? ''),
      osImageURL: text,
      baseOSExtensionsContainerImage: text,
    })
    .nullish()
    .transform((spec) => spec ?? emptySpec),
});

const emptySpec = {
  config: undefined,
  kernelArguments: [],
  extensions: [],
  fips: false,
  kernelType: '' as const,
  osImageURL: '',
  baseOSExtensionsContainerImage: '',
};

export interface ObjectMetadata {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface MachineConfigSpec {
  readonly config: IgnitionConfig;
  readonly kernelArguments: readonly string[];
  readonly extensions: readonly string[];
  readonly fips: boolean;
  readonly kernelType: KernelType;
  readonly osImageURL: string;
  readonly baseOSExtensionsContainerImage: string;
}

/** A spec with an Ignition config and nothing else. */
export function configSpec(config: IgnitionConfig): MachineConfigSpec {
  return { ...emptySpec, config };
}

/** A MachineConfig whose Ignition config has been read and found valid; of any 3.x spec that we speak. */
export interface MachineConfig {
  readonly metadata: ObjectMetadata;
  readonly spec: MachineConfigSpec;
}

const selectorExpression = z.object({
  key: z.string(),
  operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
  values: list,
});
export const labelSelectorSchema = z.object({
  matchLabels: strings.nullish().transform((labels) => labels ?? {}),
  matchExpressions: z
    .array(selectorExpression)
    .nullish()
    .transform((expressions) => expressions ?? []),
});
export type LabelSelector = z.output<typeof labelSelectorSchema>;

const configurationReference = z.object({
  name: text,
  source: z
    .array(z.object({ name: z.string() }))
    .nullish()
    .transform((source) => source ?? []),
});

export const machineConfigPoolSchema = z.object({
  apiVersion: z.literal(apiVersion),
  kind: z.literal('MachineConfigPool'),
  metadata: objectMetadataSchema,
  spec: z.object({
    machineConfigSelector: labelSelectorSchema.nullish(),
    nodeSelector: labelSelectorSchema.nullish(),
    paused: z
      .boolean()
      .nullish()
      .transform((paused) => paused ?? false),
    maxUnavailable: z.union([z.int().nonnegative(), z.string().regex(/^\d+%?$/)]).nullish(),
    configuration: configurationReference.nullish(),
    /** What a machine does about a file that somebody else changed; ours. Absent means Report. */
    driftPolicy: z.enum(driftPolicies).nullish(),
  }),
});
export type MachineConfigPool = z.output<typeof machineConfigPoolSchema>;

const proxyUrl = z.url().refine((url) => {
  const { username, password } = new URL(url);
  return username === '' && password === '';
}, 'has a user or a password, which everybody would see who may read this object; docs/outside-world.md says where they go');

/** The cluster facts from which the built-in MachineConfigs are generated; upstream's field names where it has them. */
export const controllerConfigSchema = z.object({
  apiVersion: z.literal(apiVersion),
  kind: z.literal('ControllerConfig'),
  metadata: objectMetadataSchema,
  spec: z.object({
    clusterDNSIP: z.union([z.ipv4(), z.ipv6()]),
    clusterDomain: z.string().default('cluster.local'),
    apiServerInternalURL: z.url(),
    images: z.object({
      pause: z.string().min(1),
      /** With the daemon of machines; by digest, as `releaseImage`. The bootstrap machine adds both. */
      machineConfigOperatorImage: z.string().exactOptional(),
    }),
    releaseImage: z.string().exactOptional(),
    osImageURL: text,
    network: z.object({
      clusterNetworks: z.array(z.union([z.cidrv4(), z.cidrv6()])),
      machineNetworks: z.array(z.union([z.cidrv4(), z.cidrv6()])),
    }),
    mastersSchedulable: z.boolean().default(false),
    /** What machines can be asked for; ours. */
    machines: z.object({ sharesHost: z.boolean() }).exactOptional(),
    controlPlane: controlPlaneFactsSchema.exactOptional(),
    /** PEM in base64, as upstream has it. */
    rootCAData: z.base64().exactOptional(),
    kubeletEnvironment: strings.default({}),
    /** Without user and password. `noProxy` is one text with commas, as upstream has it. */
    proxy: z
      .object({
        httpProxy: proxyUrl.exactOptional(),
        httpsProxy: proxyUrl.exactOptional(),
        noProxy: z.string().default(''),
        hasCredentials: z.boolean().default(false),
      })
      .exactOptional(),
    /** PEM in base64, as upstream has it. */
    additionalTrustBundle: z.base64().exactOptional(),
    featureGates: z.record(z.string(), z.boolean()).exactOptional(),
    security: securitySettingsSchema.default(hardenedSettings),
    authentication: authenticationSettingsSchema.exactOptional(),
    nodeBootstrap: z
      .object({
        /** The bootstrapper of src/torcx; its units are generated, so that a newer Firstlight brings newer ones. */
        torcx: z
          .object({
            upgradeOS: z.boolean().default(true),
            skipSetup: z.boolean().default(false),
            manifestURL: text,
            /** YAML: which docker fits which Kubernetes. The bootstrap machine adds it where nobody has given it. */
            runtimeMappings: text,
            /** Public keys, ASCII-armored. */
            keyring: text,
            /** Further flags of `firstlight torcx bootstrap`. */
            flags: z.array(z.string().startsWith('--')).default([]),
          })
          .exactOptional(),
        /** Ignition units; judged with everything else that is rendered. */
        units: z.array(z.looseObject({ name: z.string() })).default([]),
      })
      .transform(({ torcx, units }) => ({ torcx, units: units as readonly Unit[] }))
      .exactOptional(),
    registries: z
      .array(
        z.object({
          name: z.string().min(1),
          isBlocked: z.boolean().exactOptional(),
          isDigestOnly: z.boolean().exactOptional(),
          mirrors: z.array(z.object({ url: z.url(), caFile: z.string().exactOptional() })),
        }),
      )
      .default([]),
  }),
});
export type ControllerConfig = z.output<typeof controllerConfigSchema>;
/** As a manifest has it: without what has its default. */
export type TorcxFields = NonNullable<
  NonNullable<z.input<typeof controllerConfigSchema>['spec']['nodeBootstrap']>['torcx']
>;

/** What a machine has that no config was ever applied to. */
export const emptyMachine: MachineConfigSpec = configSpec({ ignition: { version: latestSpec } });

/** A rendered config says `default` where nobody has chosen a kernel. */
export function withNamedKernel(spec: MachineConfigSpec): MachineConfigSpec {
  return { ...spec, kernelType: spec.kernelType || 'default' };
}
