// Waits for a roll-out and shows it meanwhile, for the verbs that begin one and for `status --watch`.
import type { AwaitPools } from '../../cluster/pools/await-pools.ts';
import type { KubernetesClient } from '../../kubernetes/client.ts';
import type { PoolView } from '../../pool-rollout/pool-view.ts';
import { waitLimits, type waitOptions } from '../cluster/wait-options.ts';
import { frameDisplay } from '../frame/frame-display.ts';
import type { ValuesOf } from '../frame/option.ts';
import type { Invocation } from '../frame/verb.ts';
import { rollOutFrame } from './pool-text.ts';

export interface FollowedRollOut extends Pick<AwaitPools, 'pools' | 'command'> {
  readonly client: KubernetesClient;
  readonly title: string;
}

/** The pools as they are in the end. Throws where the roll-out stops. */
export async function followRollOut(
  invocation: Invocation<unknown, ValuesOf<typeof waitOptions>>,
  { client, title, pools, command }: FollowedRollOut,
): Promise<readonly PoolView[]> {
  const { awaitPools } = await import('../../cluster/pools/await-pools.ts');
  const { host, global, signal } = invocation;
  const display = frameDisplay(invocation);
  const startMs = host.clock.monotonicMs();
  let likely: string | undefined;
  return await awaitPools({
    host,
    dir: global.dir,
    client,
    pools,
    command,
    patience: waitLimits(invocation),
    signal,
    onSeen: (seen, waiting) => {
      const elapsedMs = host.clock.monotonicMs() - startMs;
      display.show(rollOutFrame(seen, { title, elapsedMs, likely, waiting }));
    },
    onLikely: (reason) => {
      likely = reason?.sentence;
    },
  });
}
