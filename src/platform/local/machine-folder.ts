// A machine's folder. It is filled under another name and renamed when it is complete, so that a folder with the name
// of a machine is always complete; the next command removes what a killed command left behind.
import { dirname, join } from 'node:path';
import { firstBootStatusPath, readFirstBootStatus } from '../../contract/first-boot-status.ts';
import type { MachineImage } from '../../contract/machine-image.ts';
import type { Host } from '../../host/host.ts';
import type { MachineNetwork } from './addresses.ts';
import { machinePaths, machinesFolder, pathsIn } from './cluster-folder.ts';
import { fillContainerdFolder } from './containerd-folder.ts';
import { type LocalMachine, localMachineSchema } from './local-machine.ts';
import { machineFiles } from './machine-files.ts';
import { machineNetworkBatch } from './network-namespaces.ts';
import { type RootFilesInput, rootFiles } from './root-files.ts';
import { runProgram } from './run-program.ts';

const unfinishedSuffix = '.unfinished';

export async function readMachine(host: Host, cluster: string, name: string): Promise<LocalMachine | undefined> {
  const content = await host.files.readIfPresent(machinePaths(cluster, name).machineFile);
  if (content === undefined) return undefined;
  return localMachineSchema.parse(JSON.parse(Buffer.from(content).toString('utf8')));
}

/** The machines of a cluster, by name. */
export async function readMachines(host: Host, cluster: string): Promise<readonly LocalMachine[]> {
  const names = (await host.files.list(machinesFolder(cluster))) ?? [];
  const machines = await Promise.all(
    names.filter((name) => !name.endsWith(unfinishedSuffix)).map((name) => readMachine(host, cluster, name)),
  );
  return machines.filter((machine) => machine !== undefined);
}

/** Shared files (the root image, the images of the release) are not in the machine's folder and do not count. */
export async function machineDiskBytes(host: Host, cluster: string, name: string): Promise<number> {
  const { folder } = machinePaths(cluster, name);
  const command = ['du', '--summarize', '--one-file-system', '--block-size=1', folder] as const;
  const { stdout } = await runProgram(host, command);
  return Number.parseInt(stdout, 10);
}

/** Removes a machine's folder. It is renamed first, so that a half-removed folder is never taken for a machine. */
export async function removeMachineFolder(host: Host, cluster: string, name: string): Promise<void> {
  const { folder } = machinePaths(cluster, name);
  const unfinished = `${folder}${unfinishedSuffix}`;
  await host.files.remove(unfinished);
  if ((await host.files.facts(folder)) !== undefined) await host.files.rename(folder, unfinished);
  await host.files.remove(unfinished);
}

/** Removes what killed commands left behind of machines that were being made or removed. */
export async function removeUnfinishedMachines(host: Host, cluster: string): Promise<void> {
  const names = (await host.files.list(machinesFolder(cluster))) ?? [];
  for (const name of names.filter((candidate) => candidate.endsWith(unfinishedSuffix))) {
    await host.files.remove(join(machinesFolder(cluster), name));
  }
}

export interface NewMachine {
  readonly cluster: string;
  readonly machine: LocalMachine;
  readonly image: MachineImage;
  readonly network: MachineNetwork;
  readonly ignition: Uint8Array;
}

export async function makeMachineFolder(host: Host, input: NewMachine): Promise<void> {
  const { cluster, machine } = input;
  const finished = machinePaths(cluster, machine.name);
  const paths = pathsIn(`${finished.folder}${unfinishedSuffix}`);
  await host.files.remove(paths.folder);
  await host.files.makeFolder(paths.folder, { mode: 0o700 });
  for (const folder of [paths.root, paths.layers, paths.containerd, paths.kubelet, paths.etcd]) {
    await host.files.makeFolder(folder);
  }
  await fillContainerdFolder(host.files, input.image, paths.containerd);
  const batch = `${machineNetworkBatch(input.network, machine.address).join('\n')}\n`;
  await host.files.write(paths.networkBatch, batch, { isDurable: false });
  await host.files.write(paths.ignition, input.ignition, { mode: 0o600, isDurable: false });
  await host.files.write(paths.machineFile, `${JSON.stringify(machine, null, 2)}\n`);
  await host.files.rename(paths.folder, finished.folder);
}

export interface RootInput extends Omit<RootFilesInput, 'ignition'> {
  readonly cluster: string;
}

/**
 * The root that a machine boots from next. Until its first boot is over it is made anew at every start: Ignition does
 * not overwrite what it wrote itself, so a first boot that was cut short could never be completed.
 */
export async function prepareRoot(host: Host, input: RootInput): Promise<void> {
  const paths = machinePaths(input.cluster, input.machine.name);
  const status = await readFirstBootStatus(
    machineFiles(host.files, input.cluster, input.machine.name),
    firstBootStatusPath,
  );
  if (status?.phase === 'done') return host.files.remove(paths.ignition);
  for (const folder of [paths.upper, paths.work]) {
    await host.files.remove(folder);
    await host.files.makeFolder(folder);
  }
  await writeSeed(host, paths.upper, { ...input, ignition: await host.files.read(paths.ignition) });
}

async function writeSeed(host: Host, upper: string, input: RootFilesInput): Promise<void> {
  for (const file of rootFiles(input)) {
    const path = join(upper, file.path);
    await host.files.makeFolder(dirname(path));
    if ('linkTo' in file) await host.files.symlink(file.linkTo, path);
    else await host.files.write(path, file.content, { mode: file.mode ?? 0o644, isDurable: false });
  }
}
