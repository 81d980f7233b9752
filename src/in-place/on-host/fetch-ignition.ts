// The Ignition config of this machine, from the server that its Secret names, and the MachineConfig that is made of it:
// the one that the server serialised, and the files that it added to its answer for this machine.

import { type AttemptSecret, type ReleaseReference, releaseReferenceSchema } from '../../contract/in-place.ts';
import { daemonFiles } from '../../contract/machine-config-node.ts';
import { bootstrapKubeconfig, releaseReferenceFile } from '../../contract/machine-paths.ts';
import { FirstlightError } from '../../errors/firstlight-error.ts';
import type { Host } from '../../host/host.ts';
import { jsonIfValid } from '../../host/json-if-valid.ts';
import type { FileNode, IgnitionConfig } from '../../ignition/config.ts';
import { readInlineContents } from '../../ignition/inline-contents.ts';
import { parseIgnition } from '../../ignition/parse.ts';
import { inPlaceErrors } from '../errors.ts';
import { ignitionRequest } from '../ignition-request.ts';

const requestLimitMs = 30_000;

/** Throws INPLACE_PAYLOAD_UNAVAILABLE, which may pass, or INPLACE_PAYLOAD_REFUSED, which stays. */
export async function fetchIgnition(host: Host, secret: AttemptSecret, signal: AbortSignal): Promise<Uint8Array> {
  const request = ignitionRequest(secret);
  const { url } = request;
  const unavailable = (reason: string, cause?: unknown): Error =>
    inPlaceErrors.PAYLOAD_UNAVAILABLE({ url, reason }, { cause });
  const answer = await host.network
    .request({ ...request, timeoutMs: requestLimitMs, signal })
    .catch((error: unknown) => {
      if (!(error instanceof FirstlightError)) throw error;
      throw unavailable(error.message, error);
    });
  const { status, body } = answer;
  if (status === 200) return body;
  if (status >= 500 || status === 429) throw unavailable(`the server answered with ${status}`);
  throw inPlaceErrors.PAYLOAD_REFUSED({ url, status });
}

export interface InPlaceConfig {
  /** The name of the rendered config. */
  readonly name: string;
  /** What `firstboot-complete-machineconfig` gets. It contains the token of this machine. */
  readonly text: string;
  /** The kubeconfig with which the machine joins. */
  readonly kubeconfig: string;
  /** Undefined where the config is of a cluster that does not name its release. */
  readonly release: ReleaseReference | undefined;
}

/** Without these a machine could never join; upstream's server adds them after it has serialised the MachineConfig. */
const neededPaths = [daemonFiles.servedMachineConfig, bootstrapKubeconfig, daemonFiles.nodeAnnotations] as const;

/** Throws INPLACE_PAYLOAD_UNUSABLE. */
export function inPlaceConfig(payload: Uint8Array, source: string): InPlaceConfig {
  const files = filesOf(payload, source);
  const unusable = (reason: string): Error => inPlaceErrors.PAYLOAD_UNUSABLE({ source, reason });
  const textAt = (path: string): string | undefined => textOf(files.find((file) => file.path === path));
  const missing = neededPaths.filter((path) => textAt(path) === undefined);
  if (missing.length > 0) throw unusable(`it has no ${missing.join(' and no ')}`);
  const served = jsonIfValid(textAt(daemonFiles.servedMachineConfig) ?? '') as ServedMachineConfig | undefined;
  const config = served?.spec?.config;
  const name = served?.metadata?.name;
  if (config === undefined || name === undefined) {
    throw unusable(`its file ${daemonFiles.servedMachineConfig} is no MachineConfig`);
  }
  const own = new Set((config.storage?.files ?? []).map(({ path }) => path));
  const added = files.filter(({ path }) => !own.has(path) && path !== daemonFiles.encapsulated);
  const storage = { ...config.storage, files: [...(config.storage?.files ?? []), ...added] };
  const whole = { ...served, spec: { ...served?.spec, config: { ...config, storage } } };
  return {
    name,
    text: `${JSON.stringify(whole)}\n`,
    kubeconfig: textAt(bootstrapKubeconfig) ?? '',
    release: releaseReferenceSchema.safeParse(jsonIfValid(textAt(releaseReferenceFile) ?? '')).data,
  };
}

interface ServedMachineConfig {
  readonly metadata?: { readonly name?: string };
  readonly spec?: { readonly config?: IgnitionConfig };
}

function filesOf(payload: Uint8Array, source: string): readonly FileNode[] {
  const parsed = parseIgnition(payload);
  if (parsed.status === 'parsed') return parsed.config.storage?.files ?? [];
  const [problem] = parsed.report.errors;
  throw inPlaceErrors.PAYLOAD_UNUSABLE({ source, reason: problem?.message ?? 'it is empty' });
}

function textOf(file: FileNode | undefined): string | undefined {
  const read = file === undefined ? undefined : readInlineContents(file.contents ?? {});
  return read?.status === 'inline' ? Buffer.from(read.bytes).toString('utf8') : undefined;
}
