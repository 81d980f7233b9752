// The bundle that a failed `create cluster` makes by itself. The failure is what matters: whatever happens here is told
// in one line, and takes no longer than its limit.
import type { Reason } from '../../diagnose/diagnose.ts';
import { FirstlightError } from '../../errors/firstlight-error.ts';
import type { Emit } from '../../workflow/events.ts';
import { shownPath } from '../frame/paths.ts';
import { firstlightVersion } from '../frame/program.ts';
import type { Invocation } from '../frame/verb.ts';

/** All of it; on a host that is not busy it takes a few seconds. */
const limitMs = 13_000;

export async function gatherAfterFailure(
  invocation: Pick<Invocation, 'host' | 'global' | 'signal'>,
  { error, command, emit }: { readonly error: unknown; readonly command: string; readonly emit: Emit },
): Promise<void> {
  const { host, global, signal } = invocation;
  // Whoever interrupts a command does not want to wait for it.
  if (signal.aborted) return;
  const tell = (level: 'info' | 'warn', text: string): void => emit({ kind: 'notice', level, text });
  try {
    const { findCluster } = await import('../../cluster/find-cluster.ts');
    const found = await findCluster(host, global.dir);
    if (found === undefined || (await found.platform.listMachines(found.name)).length === 0) return;
    const { gatherCluster, noAddresses } = await import('../../cluster/gather-cluster.ts');
    tell('info', 'gathers what the machines say about the failure');
    const startMs = host.clock.monotonicMs();
    const { path } = await gatherCluster({
      host,
      dir: global.dir,
      signal,
      scope: 'all',
      ssh: { addresses: noAddresses, user: 'core', keyFile: undefined },
      command,
      version: firstlightVersion,
      timeoutMs: limitMs,
      failure: failureOf(error),
      report: () => {},
    });
    const seconds = ((host.clock.monotonicMs() - startMs) / 1000).toFixed(1);
    tell('info', `gathered in ${seconds} s: ${shownPath(invocation, path.slice(global.dir.length + 1))}`);
  } catch (trouble) {
    tell('warn', `no logs were gathered: ${trouble instanceof Error ? trouble.message : String(trouble)}`);
  }
}

function failureOf(error: unknown) {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof FirstlightError)) return { code: 'CLI_INTERNAL', message };
  // Errors of a stall have the reasons that were found.
  const { reasons } = (error.details ?? {}) as { readonly reasons?: readonly Reason[] };
  return { code: error.code, message, ...(reasons === undefined ? {} : { reasons }) };
}
