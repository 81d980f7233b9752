// The daemon that applies a configuration is the one of its release. The program that runs here is used where it comes
// from the same image; else the daemon is copied out of the named image, from containerd's store or pulled into it.
import { z } from 'zod';
import { type AttemptSettings, attemptFiles, type ReleaseReference } from '../../contract/in-place.ts';
import { kubeletPullSecret, registryHostsFolder } from '../../contract/machine-paths.ts';
import { FirstlightError } from '../../errors/firstlight-error.ts';
import type { Host } from '../../host/host.ts';
import { jsonIfValid } from '../../host/json-if-valid.ts';
import { inPlaceErrors } from '../errors.ts';
import { copyProgram, hasProgram } from './program-folder.ts';

const pullLimitMs = 600_000;
const mountLimitMs = 60_000;

/** The folder of the program to run. Throws INPLACE_DAEMON, which may pass. */
export async function takeDaemon(
  host: Host,
  settings: AttemptSettings,
  { release, signal }: { readonly release: ReleaseReference | undefined; readonly signal: AbortSignal },
): Promise<string> {
  const { program, daemon } = attemptFiles(settings.attemptId);
  if (release === undefined || release.daemonImage === settings.programImage) return program;
  if (await hasProgram(host, daemon)) return daemon;
  const image = release.daemonImage;
  try {
    if (!(await isPresent(host, image, signal))) await pull(host, image, signal);
    await copyFromImage(host, { image, settings, signal });
  } catch (error) {
    if (!(error instanceof FirstlightError)) throw error;
    throw inPlaceErrors.DAEMON({ image, reason: error.message }, { cause: error });
  }
  return daemon;
}

async function copyFromImage(
  host: Host,
  {
    image,
    settings,
    signal,
  }: { readonly image: string; readonly settings: AttemptSettings; readonly signal: AbortSignal },
): Promise<void> {
  const { folder, daemon } = attemptFiles(settings.attemptId);
  const root = `${folder}/image`;
  const unmount = async (): Promise<unknown> =>
    host.processes.run('ctr', ctrArgs('unmount', '--rm', root), { timeoutMs: mountLimitMs });
  // Of a run that was cut off.
  await unmount();
  await host.files.makeFolder(root);
  try {
    await ctr(host, image, { args: ctrArgs('mount', image, root), timeoutMs: mountLimitMs, signal });
    await copyProgram(host, { root, folder: daemon });
  } finally {
    await unmount();
  }
}

async function isPresent(host: Host, image: string, signal: AbortSignal): Promise<boolean> {
  const args = ctrArgs('list', '--quiet', `name==${image}`);
  return (await ctr(host, image, { args, timeoutMs: mountLimitMs, signal })).includes(image);
}

async function pull(host: Host, image: string, signal: AbortSignal): Promise<void> {
  const user = await credentialFor(host, image);
  const login = user === undefined ? [] : ['--user', user];
  const args = ctrArgs('pull', '--hosts-dir', registryHostsFolder, ...login, image);
  await ctr(host, image, { args, timeoutMs: pullLimitMs, signal });
}

function ctrArgs(...words: readonly string[]): readonly string[] {
  return ['--namespace', 'k8s.io', 'images', ...words];
}

interface CtrCall {
  readonly args: readonly string[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

async function ctr(host: Host, image: string, { args, timeoutMs, signal }: CtrCall): Promise<string> {
  const { code, stdout, stderr, timedOut } = await host.processes.run('ctr', args, { timeoutMs, signal });
  if (code === 0) return stdout;
  const reason = timedOut ? `no answer within ${timeoutMs / 1000} s` : stderr.trim().split('\n').at(-1);
  throw inPlaceErrors.DAEMON({ image, reason: reason || `ctr ended with ${code}` });
}

const pullSecret = z.object({ auths: z.record(z.string(), z.object({ auth: z.string().optional() })) });

/** `user:password` from the registry credentials of the machine. */
async function credentialFor({ files }: Host, image: string): Promise<string | undefined> {
  const content = await files.readIfPresent(kubeletPullSecret);
  const { auths = {} } = pullSecret.safeParse(jsonIfValid(content ?? '')).data ?? {};
  const [registry = ''] = image.split('/');
  const auth = auths[registry]?.auth;
  return auth === undefined ? undefined : Buffer.from(auth, 'base64').toString('utf8');
}
