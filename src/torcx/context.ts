// What every step of a torcx run receives: the host, the settings, the paths of the node, and where messages go.
import { join } from 'node:path';
import { kubeletEnvironment, kubeletEnvironmentSeed, runtimePaths } from '../contract/machine-paths.ts';
import { isError } from '../errors/firstlight-error.ts';
import { hostErrors } from '../host/errors.ts';
import type { Host } from '../host/host.ts';
import type { Emit } from '../workflow/events.ts';
import type { RetryPolicy } from '../workflow/retry.ts';
import { torcxErrors } from './errors.ts';
import type { TorcxSettings, Verbosity } from './settings.ts';

export interface TorcxContext {
  readonly host: Host;
  readonly settings: TorcxSettings;
  readonly signal: AbortSignal;
  readonly say: (level: 'debug' | 'info' | 'warn', text: string) => void;
  /** The path under --root. */
  readonly at: (path: string) => string;
}

/** Paths that no flag changes. */
export const nodePaths = {
  osRelease: '/usr/lib/os-release',
  installerKubeletEnv: kubeletEnvironmentSeed,
  kubeletEnv: kubeletEnvironment,
  vendorStore: '/usr/share/torcx/store',
  oemStore: '/usr/share/oem/torcx/store',
  userStore: '/var/lib/torcx/store',
  acceptedLists: '/var/lib/torcx/accepted-lists.json',
  profileFolders: ['/usr/share/torcx/profiles', '/usr/share/oem/torcx/profiles', '/etc/torcx/profiles'],
  userProfiles: '/etc/torcx/profiles',
  nextProfile: '/etc/torcx/next-profile',
  torcxConfig: '/etc/torcx/config.json',
  runningProfile: '/run/torcx/profile.json',
  seal: '/run/metadata/torcx',
  cleanupUnit: '/run/systemd/system/torcx-docker-cleanup.service',
  systemdPrivateSocket: '/run/systemd/private',
  runFolder: runtimePaths.folder,
  lock: `${runtimePaths.folder}/torcx.lock`,
  /** Exists while a reboot is owed: kubelet.env then does not mean that the node is ready. The reboot removes it. */
  rebootOwed: `${runtimePaths.folder}/torcx-reboot-owed`,
} as const;

const shown: Readonly<Record<Verbosity, readonly string[]>> = {
  error: [],
  warn: ['warn'],
  info: ['warn', 'info'],
  debug: ['warn', 'info', 'debug'],
};

export function torcxContext(
  host: Host,
  settings: TorcxSettings,
  { signal, emit }: { readonly signal: AbortSignal; readonly emit: Emit },
): TorcxContext {
  return {
    host,
    settings,
    signal,
    at: (path) => (settings.root === '/' ? path : join(settings.root, path)),
    say: (level, text) => {
      if (!shown[settings.verbosity].includes(level)) return;
      emit({ kind: 'notice', level: level === 'warn' ? 'warn' : 'info', text });
    },
  };
}

/** How many attempts each kind of request has, and the pauses between them. */
export const retryPolicies = {
  api: { attempts: 3, firstPauseMs: 10_000, maxPauseMs: 10_000 },
  bucket: { attempts: 5, firstPauseMs: 5_000, maxPauseMs: 60_000 },
  annotation: { attempts: 5, firstPauseMs: 60_000, maxPauseMs: 60_000 },
  conflict: { attempts: 5, firstPauseMs: 10, maxPauseMs: 1_000 },
} as const satisfies Readonly<Record<string, RetryPolicy>>;

export function scaled(policy: RetryPolicy, { pauseScale }: TorcxSettings): RetryPolicy {
  const { attempts, firstPauseMs, maxPauseMs } = policy;
  return { attempts, firstPauseMs: firstPauseMs * pauseScale, maxPauseMs: maxPauseMs * pauseScale };
}

/** The reason inside an error, for a sentence that goes on. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The same without the object that the sentence has named already. */
export function bareReasonOf(error: unknown): string {
  if (isError(error, hostErrors.FILE)) return error.details.reason;
  if (isError(error, torcxErrors.MAPPINGS)) return error.details.reason;
  return reasonOf(error);
}
