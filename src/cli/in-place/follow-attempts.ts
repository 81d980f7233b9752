// Waits for attempts and shows them meanwhile, for the verbs that start one and for `ipb watch`.
import type { WatchAttempts, WatchedAttempts } from '../../cluster/in-place/watch-attempts.ts';
import type { KubernetesClient } from '../../kubernetes/client.ts';
import { waitLimits, type waitOptions } from '../cluster/wait-options.ts';
import { frameDisplay } from '../frame/frame-display.ts';
import type { ValuesOf } from '../frame/option.ts';
import type { CommandResult, Invocation } from '../frame/verb.ts';
import { attemptFrame, endedText } from './attempt-text.ts';

export interface FollowedAttempts extends Pick<WatchAttempts, 'target' | 'command'> {
  readonly client: KubernetesClient;
  readonly title: string;
}

/** The attempts as they are in the end. Throws where one of them does not end well. */
export async function followAttempts(
  invocation: Invocation<unknown, ValuesOf<typeof waitOptions>>,
  { client, title, target, command }: FollowedAttempts,
): Promise<WatchedAttempts> {
  const { watchAttempts } = await import('../../cluster/in-place/watch-attempts.ts');
  const { host, global, signal } = invocation;
  const display = frameDisplay(invocation);
  const startMs = host.clock.monotonicMs();
  let likely: string | undefined;
  return await watchAttempts({
    host,
    dir: global.dir,
    client,
    target,
    command,
    patience: waitLimits(invocation),
    signal,
    onSeen: (watched) => {
      const elapsedMs = host.clock.monotonicMs() - startMs;
      display.show(attemptFrame(watched, { title, elapsedMs, likely, now: host.clock.now() }));
    },
    onLikely: (reason) => {
      likely = reason?.sentence;
    },
  });
}

/** The result of a verb that followed attempts to their end. */
export function followedResult(watched: WatchedAttempts): CommandResult {
  const attempts = watched.nodes.flatMap(({ attempt }) => (attempt === null ? [] : [attempt]));
  return { data: { run: watched.run, attempts }, text: endedText(watched) };
}
