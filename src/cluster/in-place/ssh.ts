// A machine that is reached by SSH and nothing else: the ssh program of this host, with a key and without questions.
// Which host key a machine has is learned at the first connection and kept in the asset folder.
import type { Host } from '../../host/host.ts';
import type { CommandLine } from '../../platform/platform.ts';
import { shellQuoted } from '../../platform/ssh-access.ts';
import { retry } from '../../workflow/retry.ts';
import { attemptErrors } from './errors.ts';

export interface SshTarget {
  readonly address: string;
  readonly user: string;
  /** The private key; undefined: what the user's agent and configuration offer. */
  readonly keyFile?: string;
  readonly knownHostsFile: string;
  /** How a program of this host gets into the network of the machine. */
  readonly inNetwork: (command: CommandLine) => CommandLine;
}

export interface SshRun {
  readonly input?: Uint8Array | string;
  readonly timeoutMs?: number;
}

export interface SshMachine {
  /** As `uname -m` says it. */
  readonly architecture: string;
  /** Runs a script of the shell as root. Throws SSH where it fails, with its last words. */
  readonly run: (script: string, options?: SshRun) => Promise<string>;
}

const timeoutMsDefault = 30_000;
/** What ssh itself ends with when it cannot connect or log in. */
const sshFailure = 255;

/** A machine that has just booted, or whose address belonged to another one a moment ago, answers a little later. */
const connectPauses = { attempts: 4, firstPauseMs: 1_000, maxPauseMs: 4_000 } as const;

class NotReached extends Error {}

function isNotReached(said: string): boolean {
  return /timed out|refused|No route to host|unreachable|reset by peer|closed by/.test(said);
}

export async function connectSsh(host: Host, target: SshTarget, signal: AbortSignal): Promise<SshMachine> {
  const ask = async (script: string, { input, timeoutMs = timeoutMsDefault }: SshRun = {}) => {
    const [program, ...args] = target.inNetwork(sshCommand(target, script));
    return host.processes.run(program, args, { signal, timeoutMs, ...(input === undefined ? {} : { input }) });
  };
  const { user, address } = target;
  const first = await retry(
    { host, signal, policy: connectPauses, isWorthRetrying: (error) => error instanceof NotReached },
    async () => {
      const result = await ask('id -u; uname -m');
      if (result.code === sshFailure && isNotReached(result.stderr)) throw new NotReached(lastWords(result));
      return result;
    },
  ).catch((error: unknown) => {
    throw error instanceof NotReached ? attemptErrors.SSH({ user, address, reason: error.message }) : error;
  });
  if (first.code !== 0) throw attemptErrors.SSH({ user, address, reason: lastWords(first) });
  const [uid = '', architecture = ''] = first.stdout.trim().split('\n');
  const asRoot = (script: string): string => (uid === '0' ? script : `sudo -n sh -c ${shellQuoted(script)}`);
  const allowed = await ask(asRoot('true'));
  if (allowed.code !== 0) throw attemptErrors.NOT_ROOT({ user, address, reason: lastWords(allowed) });
  return {
    architecture,
    run: async (script, options) => {
      const result = await ask(asRoot(script), options);
      if (result.code !== 0) throw attemptErrors.SSH({ user, address, reason: lastWords(result) });
      return result.stdout;
    },
  };
}

/** Exported for its test: what ssh is asked to do. */
export function sshCommand({ address, user, keyFile, knownHostsFile }: SshTarget, script: string): CommandLine {
  const options = [
    'BatchMode=yes',
    'ConnectTimeout=10',
    'ServerAliveInterval=10',
    'StrictHostKeyChecking=accept-new',
    `UserKnownHostsFile=${knownHostsFile}`,
    ...(keyFile === undefined ? [] : ['IdentitiesOnly=yes']),
  ];
  const key = keyFile === undefined ? [] : ['-i', keyFile];
  return ['ssh', ...key, ...options.flatMap((option) => ['-o', option]), `${user}@${address}`, '--', script];
}

function lastWords({ code, stdout, stderr, timedOut }: Awaited<ReturnType<Host['processes']['run']>>): string {
  if (timedOut) return 'it did not end in time';
  const said = (stderr.trim() || stdout.trim()).split('\n').at(-1) ?? '';
  return code === sshFailure || said !== '' ? said : `it ended with ${code}`;
}
