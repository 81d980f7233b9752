// What a machine is answered with: the rendered Ignition config of its pool and the files that only the server can add,
// in the spec it asked for. Built once per pool and spec, with a place for the token; a request puts its token there.
import { daemonFiles, nodeConfigAnnotations } from '../contract/machine-config-node.ts';
import {
  bootstrapKubeconfig,
  kubeletClientCa,
  kubeletPullSecret,
  proxyCredentials,
} from '../contract/machine-paths.ts';
import type { FileNode, IgnitionConfig } from '../ignition/config.ts';
import { convert, convertUp } from '../ignition/convert.ts';
import { inlineFile } from '../ignition/inline-contents.ts';
import { serialize } from '../ignition/serialize.ts';
import type { SpecVersion } from '../ignition/spec-version.ts';
import { isAtLeast, latestSpec } from '../ignition/spec-version.ts';
import { toYaml } from '../kubernetes/yaml.ts';
import type { MachineConfig } from '../machine-config/machine-config.ts';
import { apiVersion } from '../machine-config/machine-config.ts';
import type { KubeletKubeconfig, ServedPool } from './config-source.ts';

/** Paths that programs on existing machines know; see docs/config-server.md. */
export const servedPaths = {
  kubeletClientCa,
  nodeAnnotations: daemonFiles.nodeAnnotations,
  bootstrapKubeconfig,
  machineConfig: daemonFiles.servedMachineConfig,
  encapsulated: daemonFiles.encapsulated,
} as const;

export type BuiltConfig =
  | { readonly status: 'built'; readonly fill: (token: string) => string }
  /** The pool's config uses something that this spec does not have. */
  | { readonly status: 'inexpressible'; readonly losses: readonly string[] };

export type BuildConfig = (served: ServedPool, version: SpecVersion) => BuiltConfig;

/** Builds each config once: building takes longer than the TLS handshake of a machine. */
export function servedConfigs(): BuildConfig {
  const built = new WeakMap<ServedPool, Map<SpecVersion, BuiltConfig>>();
  return (served, version) => {
    const versions = built.get(served) ?? new Map<SpecVersion, BuiltConfig>();
    const config = versions.get(version) ?? buildServedConfig(served, version);
    built.set(served, versions.set(version, config));
    return config;
  };
}

export function buildServedConfig(served: ServedPool, version: SpecVersion): BuiltConfig {
  const migrated = migrateKernelArguments(served.machineConfig, version);
  if ('losses' in migrated) return { status: 'inexpressible', losses: migrated.losses };
  const placeholder = unusedPlaceholder(JSON.stringify(migrated.spec.config));
  const complete = withFiles(migrated.spec.config, addedFiles(served, migrated, placeholder));
  const converted = convert(complete, version);
  if (converted.status === 'lossy') {
    return { status: 'inexpressible', losses: converted.losses.map(({ path, reason }) => `${path}: ${reason}`) };
  }
  if (converted.status === 'invalid') {
    return {
      status: 'inexpressible',
      losses: converted.report.errors.map(({ path, message }) => `${path}: ${message}`),
    };
  }
  return template(serialize(converted.config), placeholder);
}

/** As long as a token, and not in the pool's own config. */
function unusedPlaceholder(text: string): string {
  for (let number = 0; ; number += 1) {
    const placeholder = `${String(number).padStart(6, '0')}.firstlight-token`;
    if (!text.includes(placeholder)) return placeholder;
  }
}

/** Percent-encoding leaves a token as it is, so the token goes where the placeholder is in the text. */
function template(text: string, placeholder: string): BuiltConfig {
  const [before, after, ...others] = text.split(placeholder);
  if (before === undefined || after === undefined || others.length > 0) {
    throw new Error('a served config needs exactly one place for a token');
  }
  return { status: 'built', fill: (token) => before + token + after };
}

/** Ignition has kernel arguments since spec 3.3; before, a daemon of the machine reads them in the encapsulated one. */
function migrateKernelArguments(
  machineConfig: MachineConfig,
  version: SpecVersion,
): MachineConfig | { readonly losses: readonly string[] } {
  const config = convertUp(machineConfig.spec.config, latestSpec);
  const { kernelArguments, ...rest } = config;
  const { shouldExist = [], shouldNotExist = [] } = kernelArguments ?? {};
  if (isAtLeast(version, '3.3.0') || kernelArguments === undefined) {
    return { ...machineConfig, spec: { ...machineConfig.spec, config } };
  }
  if (shouldNotExist.length > 0) return { losses: ['$.kernelArguments.shouldNotExist: needs spec 3.3.0'] };
  const { spec } = machineConfig;
  return {
    ...machineConfig,
    spec: { ...spec, config: rest, kernelArguments: [...spec.kernelArguments, ...shouldExist] },
  };
}

/** What is added for one machine, in the newest spec. */
export function filesForOneMachine(served: ServedPool, token: string): readonly FileNode[] {
  const { machineConfig } = served;
  const config = convertUp(machineConfig.spec.config, latestSpec);
  return addedFiles(served, { ...machineConfig, spec: { ...machineConfig.spec, config } }, token);
}

function addedFiles(served: ServedPool, migrated: MachineConfig, token: string): readonly FileNode[] {
  const { name } = served.machineConfig.metadata;
  const annotations = {
    [nodeConfigAnnotations.current]: name,
    [nodeConfigAnnotations.desired]: name,
    [nodeConfigAnnotations.firstPivot]: name,
    [nodeConfigAnnotations.state]: 'Done',
  };
  const emptyConfig: IgnitionConfig = { ignition: { version: latestSpec } };
  const encapsulated = { ...migrated, spec: { ...migrated.spec, config: emptyConfig } };
  return [
    inlineFile({ path: servedPaths.kubeletClientCa, content: served.kubeletClientCaPem, mode: 0o600 }),
    inlineFile({ path: servedPaths.nodeAnnotations, content: JSON.stringify(annotations), mode: 0o644 }),
    {
      path: servedPaths.bootstrapKubeconfig,
      mode: 0o600,
      overwrite: true,
      contents: { source: `data:,${encodeURIComponent(withToken(served.kubeconfig, token))}` },
    },
    // These two are not in the MachineConfig, which other users of the cluster may read.
    ...(served.proxyCredentials === undefined
      ? []
      : [inlineFile({ path: proxyCredentials, content: served.proxyCredentials, mode: 0o600 })]),
    ...(served.pullSecret === undefined || hasOwnPullSecret(migrated.spec.config)
      ? []
      : [inlineFile({ path: kubeletPullSecret, content: served.pullSecret, mode: 0o600 })]),
    inlineFile({
      path: servedPaths.machineConfig,
      content: objectText(served.machineConfig),
      // It contains the whole config, also its secrets.
      mode: 0o600,
      gzip: true,
    }),
    // The last one: when it is there, the others are there too.
    inlineFile({ path: servedPaths.encapsulated, content: objectText(encapsulated), mode: 0o600 }),
  ];
}

/** A MachineConfig of the user may bring other credentials for one pool. */
function hasOwnPullSecret({ storage }: IgnitionConfig): boolean {
  return [...(storage?.files ?? []), ...(storage?.links ?? [])].some(({ path }) => path === kubeletPullSecret);
}

function withToken(kubeconfig: KubeletKubeconfig, token: string): string {
  return toYaml({
    ...kubeconfig,
    users: kubeconfig.users.map((user) => ({ ...user, user: { token } })),
  });
}

function objectText({ metadata, spec }: MachineConfig): string {
  const { name, labels, annotations } = metadata;
  return `${JSON.stringify({ apiVersion, kind: 'MachineConfig', metadata: { name, labels, annotations }, spec }, null, 2)}\n`;
}

/** Our files replace those of the config at their paths: with another kubeconfig a machine could never join. */
function withFiles(config: IgnitionConfig, added: readonly FileNode[]): IgnitionConfig {
  const paths = new Set(added.map(({ path }) => path));
  const others = <T extends { readonly path: string }>(list: readonly T[] | undefined): readonly T[] =>
    (list ?? []).filter(({ path }) => !paths.has(path));
  const { storage } = config;
  return {
    ...config,
    storage: {
      ...storage,
      directories: others(storage?.directories),
      links: others(storage?.links),
      files: [...others(storage?.files), ...added],
    },
  };
}
