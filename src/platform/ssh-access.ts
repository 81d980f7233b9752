// How the ssh program of this host gets into a machine that only the cluster's own network reaches: settings in the
// words of ssh_config(5), the same for `firstlight ssh` and for the configuration that `firstlight ssh-config` prints.
// A host key is never learned: the platform reads it from the machine's own files, and ssh accepts no other.
import type { CommandLine, MachineFiles, Platform } from './platform.ts';
import { ableTo } from './platform.ts';

export const sshPort = 22;

export interface SshAccess {
  readonly platform: Platform;
  /** The platform's name of the cluster. */
  readonly cluster: string;
  readonly machine: { readonly name: string; readonly address: string };
  /** The command line that runs this program. */
  readonly program: CommandLine;
}

export type SshSettings = Readonly<Record<string, string>>;

export function sshSettings({ platform, cluster, machine, program }: SshAccess): SshSettings {
  const relay = ableTo(platform, 'commandInNetwork')(cluster, [
    ...program,
    'ssh-relay',
    machine.address,
    String(sshPort),
  ]);
  const keys = [...program, 'ssh-host-keys', '--cluster', cluster, machine.name];
  return {
    HostName: machine.address,
    User: 'core',
    ProxyCommand: commandText(relay),
    // ssh replaces %H by the name that it looks for.
    KnownHostsCommand: `${commandText(keys)} %H`,
    UserKnownHostsFile: '/dev/null',
    GlobalKnownHostsFile: '/dev/null',
    StrictHostKeyChecking: 'yes',
    CheckHostIP: 'no',
    UpdateHostKeys: 'no',
  };
}

/** As arguments of ssh. */
export function sshArguments(settings: SshSettings): readonly string[] {
  return Object.entries(settings).flatMap(([key, value]) => ['-o', `${key}=${value}`]);
}

/** As a block of a configuration file. */
export function sshConfigText(names: readonly string[], settings: SshSettings): string {
  const lines = Object.entries(settings).map(([key, value]) => `  ${key} ${value}\n`);
  return `Host ${names.join(' ')}\n${lines.join('')}`;
}

/** A percent sign would be a token of ssh. */
function commandText(words: readonly string[]): string {
  return words
    .map((word) => (/^[\w@:=,./+-]+$/.test(word) ? word : shellQuoted(word)))
    .join(' ')
    .replaceAll('%', '%%');
}

export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

const hostKeyFiles = ['ed25519', 'ecdsa', 'rsa'].map((kind) => `/etc/ssh/ssh_host_${kind}_key.pub`);
const publicKey = /^((?:ssh|ecdsa)-[\w-]+ [A-Za-z0-9+/]+=*)(?:\s|$)/;

/** Lines of a known_hosts file. A machine makes its keys at the first connection; before, there are none. */
export async function knownHostLines(files: MachineFiles, name: string): Promise<readonly string[]> {
  const found = hostKeyFiles.map(async (path) => {
    const text = Buffer.from((await files.readIfPresent(path)) ?? new Uint8Array()).toString('utf8');
    const key = publicKey.exec(text)?.[1];
    return key === undefined ? [] : [`${name} ${key}`];
  });
  return (await Promise.all(found)).flat();
}
