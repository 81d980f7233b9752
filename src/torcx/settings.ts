// The flags of both programs as one checked value. Defaults and the order of the checks are those of the original. New
// flags: --root, --dry-run, the deadlines, --mappings-namespace, --strict-key-expiry, --require-bound-lists,
// --require-next-version, --ca-file.
import { z } from 'zod';
import { torcxMappings } from '../contract/cluster-objects.ts';
import {
  bootstrapKubeconfig,
  kubeletEnvironment,
  runtimeMappingsSeed,
  systemTrust,
} from '../contract/machine-paths.ts';
import type { Environment } from '../host/environment.ts';
import { torcxErrors } from './errors.ts';
import { checkManifestUrl, defaultManifestUrl } from './manifest-url.ts';

export type Role = 'bootstrap' | 'hook';
export type Verbosity = 'error' | 'warn' | 'info' | 'debug';

export interface TorcxSettings {
  readonly role: Role;
  /** Prefix of every path that a run reads or writes. */
  readonly root: string;
  readonly kubeconfig: string;
  /** Undefined: the built-in implementation. */
  readonly torcxBin?: string;
  readonly manifestUrl: string;
  readonly profile: string;
  readonly forcedKubeVersion?: string;
  readonly verifiesSignatures: boolean;
  readonly isStrictAboutKeyExpiry: boolean;
  readonly requiresBoundLists: boolean;
  readonly keyring: string;
  readonly versionManifest: string;
  readonly verbosity: Verbosity;
  /** Undefined: no kubelet.env is written. */
  readonly kubeletEnvPath?: string;
  readonly upgradesOs: boolean;
  readonly skipsSetup: boolean;
  readonly nodeAnnotation?: string;
  readonly nodeName?: string;
  readonly sleepSeconds: number;
  readonly requiresNextVersion: boolean;
  readonly mappingsNamespace: string;
  readonly caFile: string;
  readonly isDryRun: boolean;
  readonly updateDeadlineMs: number;
  readonly rebootDeadlineMs: number;
  readonly apiTimeoutMs: number;
  readonly bucketTimeoutMs: number;
  /** Multiplies every pause between two tries. */
  readonly pauseScale: number;
}

const levels: Readonly<Record<string, Verbosity>> = {
  panic: 'error',
  fatal: 'error',
  error: 'error',
  warn: 'warn',
  warning: 'warn',
  info: 'info',
  debug: 'debug',
};
const trueWords = ['1', 't', 'T', 'true', 'TRUE', 'True'];
const falseWords = ['0', 'f', 'F', 'false', 'FALSE', 'False'];

/** A bare flag is `true`; the value of `--flag=<bool>` is one of Go's words. */
const goBool = z.union(
  [z.boolean(), z.enum(trueWords).transform(() => true), z.enum(falseWords).transform(() => false)],
  {
    error: `must be one of ${[...trueWords, ...falseWords].join(' ')}`,
  },
);
const seconds = z.coerce.number('must be a number of seconds').nonnegative();

const schema = z.object({
  root: z.string().default('/'),
  kubeconfig: z.string().default(bootstrapKubeconfig),
  torcxBin: z.string().default(''),
  torcxManifestUrl: z.string().default(''),
  torcxProfile: z.string().default('tectonic'),
  forceKubeVersion: z.string().default(''),
  // The parser reads --no-x as the negation of x: true if absent, false if bare, else the word after the `=`.
  verifySignatures: z.union([z.boolean(), goBool.transform((isOff) => !isOff)]).default(true),
  strictKeyExpiry: goBool.default(true),
  requireBoundLists: goBool.default(false),
  keyring: z.string().default('/pubring.gpg'),
  versionManifest: z.string().default(''),
  verbose: z.string().default('info'),
  kubeletEnvPath: z.string().default(kubeletEnvironment),
  upgradeOs: goBool.default(true),
  torcxSkipSetup: goBool.default(false),
  nodeAnnotation: z.string().default(''),
  nodeName: z.string().default(''),
  sleep: z.coerce.number('must be a whole number').int().nonnegative().default(0),
  requireNextVersion: goBool.default(false),
  mappingsNamespace: z.string().min(1).default(torcxMappings.namespace),
  caFile: z.string().default(''),
  dryRun: goBool.default(false),
  updateDeadline: seconds.default(2700),
  rebootDeadline: seconds.default(600),
  apiTimeout: seconds.default(10),
  bucketTimeout: seconds.default(30),
  pauseScale: z.coerce.number('must be a number').nonnegative().default(1),
});
type Flags = z.infer<typeof schema>;

export type TorcxFlag = keyof Flags;
/** As typed: the text of a flag, or true for a bare one. */
export type TorcxFlags = Readonly<Partial<Record<TorcxFlag, string | boolean | undefined>>>;

const mappingsDefault: Readonly<Record<Role, string>> = {
  bootstrap: runtimeMappingsSeed,
  hook: '/etc/runtime-mappings.yaml',
};
const caDefault = systemTrust;

export function readTorcxSettings(
  role: Role,
  options: TorcxFlags,
  environment: Pick<Environment, 'variables'>,
): TorcxSettings {
  const result = schema.safeParse(options);
  if (!result.success) {
    const issue = result.error.issues[0];
    throw torcxErrors.USAGE({
      reason: `--${flagName(String(issue?.path[0]))} ${issue?.message ?? 'is not understood'}`,
    });
  }
  const flags = result.data;
  const nodeName = flags.nodeName || environment.variables['NODE'] || '';
  check(flags, role, nodeName);
  return {
    role,
    root: flags.root,
    kubeconfig: flags.kubeconfig,
    manifestUrl: checkManifestUrl(flags.torcxManifestUrl || defaultManifestUrl),
    profile: flags.torcxProfile,
    verifiesSignatures: flags.verifySignatures,
    isStrictAboutKeyExpiry: flags.strictKeyExpiry,
    requiresBoundLists: flags.requireBoundLists,
    keyring: flags.keyring,
    versionManifest: flags.versionManifest || mappingsDefault[role],
    verbosity: levels[flags.verbose.toLowerCase()] ?? 'info',
    upgradesOs: role === 'bootstrap' && flags.upgradeOs,
    skipsSetup: role === 'bootstrap' && flags.torcxSkipSetup,
    sleepSeconds: flags.sleep,
    requiresNextVersion: flags.requireNextVersion,
    mappingsNamespace: flags.mappingsNamespace,
    caFile: flags.caFile || environment.variables['SSL_CERT_FILE'] || caDefault,
    isDryRun: flags.dryRun,
    updateDeadlineMs: flags.updateDeadline * 1000,
    rebootDeadlineMs: flags.rebootDeadline * 1000,
    apiTimeoutMs: flags.apiTimeout * 1000,
    bucketTimeoutMs: flags.bucketTimeout * 1000,
    pauseScale: flags.pauseScale,
    ...(flags.torcxBin === '' ? {} : { torcxBin: flags.torcxBin }),
    ...(flags.forceKubeVersion === '' ? {} : { forcedKubeVersion: flags.forceKubeVersion }),
    ...(flags.kubeletEnvPath === '' || role === 'hook' ? {} : { kubeletEnvPath: flags.kubeletEnvPath }),
    ...(flags.nodeAnnotation === '' ? {} : { nodeAnnotation: flags.nodeAnnotation }),
    ...(nodeName === '' ? {} : { nodeName }),
  };
}

function check(flags: Flags, role: Role, nodeName: string): void {
  const fail = (reason: string): never => {
    throw torcxErrors.USAGE({ reason });
  };
  if (levels[flags.verbose.toLowerCase()] === undefined) {
    fail(`--verbose must be one of ${Object.keys(levels).join(' ')}, not ${JSON.stringify(flags.verbose)}`);
  }
  if (flags.kubeconfig === '' && flags.forceKubeVersion === '') {
    fail('--kubeconfig must not be empty unless --force-kube-version is given');
  }
  if (flags.torcxProfile === '') fail('--torcx-profile must not be empty');
  if (!/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(flags.torcxProfile)) fail('--torcx-profile must be a plain file name');
  if (flags.verifySignatures && flags.keyring === '') {
    fail('--keyring must not be empty unless --no-verify-signatures is given');
  }
  if (role === 'hook' && flags.nodeAnnotation !== '' && nodeName === '') {
    fail('--node-annotation needs --node-name or the variable NODE');
  }
}

function flagName(option: string): string {
  if (option === 'verifySignatures') return 'no-verify-signatures';
  return option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
