// Certificates and secrets that are in no MachineConfig: this machine's files follow a Secret of the cluster. They
// change without a drain and without a reboot, also while the pool is paused.
import { readOwnConfig } from '../../config-daemon/adopt-served-config.ts';
import { machineSecrets } from '../../contract/cluster-objects.ts';
import {
  kubeletClientCa,
  kubeletPullSecret,
  machineStateFolder,
  programs,
  proxyCredentials,
} from '../../contract/machine-paths.ts';
import { unitNames } from '../../contract/unit-names.ts';
import type { Host } from '../../host/host.ts';
import { writeIfChanged } from '../../host/write-if-changed.ts';
import type { KubernetesObject } from '../../kubernetes/object.ts';
import { acted, type Duty, settled } from '../duty.ts';
import { runCommand } from '../run-command.ts';

interface SecretFile {
  /** In the Secret. */
  readonly key: string;
  readonly path: string;
  /** Its readers look at the file again by themselves, or must be restarted. */
  readonly isReadAtStart: boolean;
}

const secretFiles: readonly SecretFile[] = [
  { key: 'kubelet-ca.crt', path: kubeletClientCa, isReadAtStart: false },
  { key: 'pull-secret.json', path: kubeletPullSecret, isReadAtStart: false },
  { key: 'proxy-credentials.env', path: proxyCredentials, isReadAtStart: true },
];

/** Exists from before a file is written until its readers were restarted. */
const restartStamp = `${machineStateFolder}/restart-for-secrets`;

export const machineSecretsDuty: Duty = {
  name: 'machine-secrets',
  roles: ['master', 'worker'],
  needs: ['cluster-view'],
  ignoresRingsWhenSettled: true,
  tickMs: 5_000,
  run: async ({ host, api, signal }) => {
    if ((await host.files.facts(restartStamp)) !== undefined) {
      await restartReaders(host);
      return acted('restarted what reads the credentials of the proxy');
    }
    const secret = await (await api()).find(machineSecrets, { signal });
    const written = await Promise.all(secretFiles.map((file) => follow(host, file, textOf(secret, file.key))));
    const paths = written.flatMap((path) => path ?? []);
    return paths.length === 0 ? settled() : acted(`brought ${paths.join(' and ')} up to date`);
  },
};

function textOf(secret: KubernetesObject | undefined, key: string): string | undefined {
  const data = secret?.['data'] as Readonly<Record<string, string>> | undefined;
  const value = data?.[key];
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString('utf8');
}

/** The path, when the file was changed. */
async function follow(
  host: Host,
  { path, isReadAtStart }: SecretFile,
  text: string | undefined,
): Promise<string | undefined> {
  if (text === undefined || text === (await textAt(host, path)) || (await isInConfig(host, path))) return undefined;
  if (isReadAtStart) {
    await host.files.makeFolder(machineStateFolder);
    await host.files.write(restartStamp, '');
  }
  return (await writeIfChanged(host.files, { path, text, mode: 0o600 })) ? path : undefined;
}

async function textAt({ files }: Host, path: string): Promise<string | undefined> {
  const content = await files.readIfPresent(path);
  return content === undefined ? undefined : Buffer.from(content).toString('utf8');
}

/** A MachineConfig may bring other credentials for one pool. */
async function isInConfig(host: Host, path: string): Promise<boolean> {
  const { files = [], links = [] } = (await readOwnConfig(host))?.spec.config.storage ?? {};
  return [...files, ...links].some((node) => node.path === path);
}

/** An agent that ends before its own restart is started again by systemd, which is the same. */
async function restartReaders(host: Host): Promise<void> {
  await runCommand(host, programs.systemctl, ['restart', unitNames.containerd, unitNames.kubelet]);
  await host.files.remove(restartStamp);
  await runCommand(host, programs.systemctl, ['--no-block', 'restart', unitNames.agent]);
}
