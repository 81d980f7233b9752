// Why a pod does not work, as one sentence, from what the scheduler and the kubelet wrote into it. What passes by
// itself is told from what needs a person: only the latter makes an operator degraded.
import { z } from 'zod';
import { conditionOf } from '../kubernetes/conditions.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';

const ended = z.object({
  exitCode: z.number().nullish(),
  reason: z.string().nullish(),
  message: z.string().nullish(),
  finishedAt: z.string().nullish(),
});
const container = z.object({
  name: z.string(),
  ready: z.boolean().nullish(),
  restartCount: z.number().nullish(),
  state: z
    .object({ waiting: z.object({ reason: z.string().nullish(), message: z.string().nullish() }).nullish() })
    .nullish(),
  lastState: z.object({ terminated: ended.nullish() }).nullish(),
});
type Container = z.output<typeof container>;

const podSchema = z.object({
  spec: z.object({ nodeName: z.string().nullish() }).nullish(),
  status: z
    .object({
      phase: z.string().nullish(),
      containerStatuses: z.array(container).nullish(),
      initContainerStatuses: z.array(container).nullish(),
    })
    .nullish(),
});

export interface PodTrouble {
  /** One word in CamelCase. */
  readonly reason: string;
  /** Names the pod, its node and the cause. */
  readonly sentence: string;
  /** It does not pass by itself. */
  readonly isStuck: boolean;
}

const minuteMs = 60_000;
/** Whatever the reason is, after this time somebody should look. */
export const patienceMs = 10 * minuteMs;
/** What a missing file, a name or an image says for a moment only while other objects are on their way. */
const shortPatienceMs = minuteMs;
const hopeless = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
]);
/** A program that waits for another may end once or twice before that one is there. */
const endsMax = 3;

/** Undefined for a pod that is Ready, or has done its work. */
export function podTrouble(pod: KubernetesObject, now: Date): PodTrouble | undefined {
  const { spec, status } = podSchema.safeParse(pod).data ?? {};
  if (status?.phase === 'Succeeded') return undefined;
  const ready = conditionOf(pod, 'Ready');
  if (ready?.status === 'True') return undefined;
  const since = ready?.since ?? new Date(pod.metadata.creationTimestamp ?? now);
  const waitedMs = now.getTime() - since.getTime();
  const name = `pod ${pod.metadata.name}`;
  const scheduled = conditionOf(pod, 'PodScheduled');
  if (spec?.nodeName == null) {
    const why = scheduled?.message || 'the scheduler has not looked at it yet';
    return { reason: 'Unschedulable', sentence: `${name} has no node: ${why}`, isStuck: waitedMs > patienceMs };
  }
  const about = `${name} on ${spec.nodeName}`;
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const worst = all.map((each) => containerTrouble(each, waitedMs, now)).find((each) => each !== undefined);
  if (worst !== undefined) return { ...worst, sentence: `${about}: ${worst.sentence}` };
  const why = ready?.message || `its phase is ${status?.phase ?? 'unknown'}`;
  return { reason: 'NotReady', sentence: `${about} is not Ready: ${why}`, isStuck: waitedMs > patienceMs };
}

function containerTrouble(each: Container, waitedMs: number, now: Date): PodTrouble | undefined {
  const waiting = each.state?.waiting;
  const last = each.lastState?.terminated;
  const ends = each.restartCount ?? 0;
  const endedMs = last?.finishedAt == null ? Number.POSITIVE_INFINITY : now.getTime() - Date.parse(last.finishedAt);
  const endsAgainAndAgain =
    ends >= endsMax && (waiting?.reason === 'CrashLoopBackOff' || (each.ready !== true && endedMs < patienceMs));
  if (endsAgainAndAgain || waiting?.reason === 'CrashLoopBackOff') {
    const sentence = `container ${each.name} has ended ${ends} times${last == null ? '' : `, last ${endText(last)}`}`;
    return { reason: 'CrashLoopBackOff', sentence, isStuck: endsAgainAndAgain };
  }
  const reason = waiting?.reason;
  // These two are how every container begins.
  if (reason == null || reason === 'ContainerCreating' || reason === 'PodInitializing') return undefined;
  const said = waiting?.message ? `: ${waiting.message}` : '';
  const isStuck = waitedMs > (hopeless.has(reason) ? shortPatienceMs : patienceMs);
  return { reason, sentence: `container ${each.name} waits, ${reason}${said}`, isStuck };
}

function endText({ exitCode, reason, message }: z.output<typeof ended>): string {
  const [line = ''] = (message ?? '').trim().split('\n').slice(-1);
  const why = reason == null || reason === 'Error' ? '' : ` (${reason})`;
  return `with exit code ${exitCode ?? 'unknown'}${why}${line === '' ? '' : `: ${line}`}`;
}
