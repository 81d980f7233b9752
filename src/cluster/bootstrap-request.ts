// The bootstrap machine as `create cluster` asks for it: bootstrap.ign, and what nobody knew when that was made: the
// images of the release, and where a person wants to hold this one run. The file in the asset folder stays as it is.
import { type BootkubeEnvironment, bootkubeEnvironmentText } from '../contract/bootkube-environment.ts';
import { type BootstrapPause, pauseFile, pauseText } from '../contract/bootstrap-pause.ts';
import { type EtcdRestore, etcdRestoreFile, etcdRestoreText } from '../contract/etcd-restore.ts';
import { bootkubeEnvironmentFile } from '../contract/machine-paths.ts';
import type { FileNode, IgnitionConfig } from '../ignition/config.ts';
import { dataUrl } from '../ignition/data-url.ts';
import { serialize } from '../ignition/serialize.ts';
import type { MachineRequest } from '../platform/machine.ts';

export interface BootstrapAdditions {
  readonly environment: BootkubeEnvironment;
  readonly pause: BootstrapPause | undefined;
  /** The cluster is brought back and not new. */
  readonly restore?: EtcdRestore | undefined;
}

/** A config that has one of the files already, because a person wrote so, keeps it. */
export function bootstrapRequest(request: MachineRequest, additions: BootstrapAdditions): MachineRequest {
  const { environment, pause, restore } = additions;
  const config = JSON.parse(Buffer.from(request.ignition).toString('utf8')) as IgnitionConfig;
  const files = config.storage?.files ?? [];
  const wanted: readonly FileNode[] = [
    added(bootkubeEnvironmentFile, bootkubeEnvironmentText(environment), 0o644),
    ...(pause === undefined ? [] : [added(pauseFile, pauseText(pause), 0o600)]),
    ...(restore === undefined ? [] : [added(etcdRestoreFile, etcdRestoreText(restore), 0o600)]),
  ];
  const missing = wanted.filter(({ path }) => !files.some((file) => file.path === path));
  if (missing.length === 0) return request;
  const ignition = serialize({ ...config, storage: { ...config.storage, files: [...files, ...missing] } });
  return { ...request, ignition: Buffer.from(ignition) };
}

function added(path: string, text: string, mode: number): FileNode {
  return { path, mode, overwrite: true, contents: { source: dataUrl(text) } };
}
