// A program of a root that is being made, run in it; what it says when it fails is why the part could not be built.
import type { Host } from '../../host/host.ts';
import { tailOf } from '../build/build-output.ts';
import { releaseErrors } from '../errors.ts';

export interface RootCommand {
  readonly folder: string;
  readonly command: readonly string[];
  /** What is being made, for people. */
  readonly part: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

export async function inRoot(host: Host, { folder, command, part, env = {}, signal }: RootCommand): Promise<void> {
  const result = await host.processes.run('chroot', [folder, ...command], { env, signal, timeoutMs: 60_000 });
  if (result.code !== 0) throw releaseErrors.BUILD_FAILED({ part, reason: tailOf(result) });
}
