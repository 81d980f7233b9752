// What a machine does or waits for, in words that fit beside its name: one place for the frame, the lines of a pipe, `status`
// and what a stall has seen.
import type { MachineSight } from './observe-cluster.ts';

export function machineWords({ story, firstBoot, agent }: MachineSight): string {
  if (firstBoot?.phase !== 'done') {
    const { url, reason } = firstBoot?.waitingFor ?? {};
    if (url === undefined) return story;
    return inShort(`asks ${url} for its config${reason === undefined ? '' : `: ${reason}`}`);
  }
  if (agent === undefined) return 'first boot done, its agent has not reported yet';
  const isVoter = agent.duties.some(({ name, status }) => name === 'etcd-member' && status === 'settled');
  const missing = awaited(agent);
  const facts = [
    ...(isVoter ? ['etcd voter'] : []),
    ...(missing === undefined ? ['settled'] : [inShort(`waits for ${missing.join(', ')}`)]),
  ];
  return facts.join(' · ');
}

export function isSettled({ firstBoot, agent }: MachineSight): boolean {
  return firstBoot?.phase === 'done' && agent !== undefined && awaited(agent) === undefined;
}

/** What the first duty waits for that does not merely wait for another duty. */
function awaited({ duties }: NonNullable<MachineSight['agent']>): readonly string[] | undefined {
  const waiting = duties.filter(({ status }) => status === 'waiting').map(({ missing }) => missing);
  return waiting.find((missing) => missing.some((text) => !text.startsWith('the duty '))) ?? waiting[0];
}

/** Scheme, domain and path of what everybody knows take the place of what nobody knows. */
export function inShort(text: string): string {
  return text
    .replaceAll(/https:\/\/(api-int|api|localhost)(?:\.[\w.-]+)?:(\d+)[\w/-]*/g, '$1:$2')
    .replace(/: lookup \S+(?: on \S+)?: (?:.*: )?(no such host)?/, (_all, plain) => `: ${plain ?? 'name lookup: '}`)
    .replaceAll(/@sha256:([0-9a-f]{8})[0-9a-f]+/g, '@sha256:$1…');
}
