// A new member of etcd tells the cluster its name right after its start and serves clients when it sees that applied. If
// the leader's snapshot already contains it, the member never sees it and serves nobody until its own request times out,
// after seven seconds: in most joins. Its data is then complete, and a second start publishes at once.
// Rules: only a learner, on which nothing depends; once per member; never one that has served.
import { isError } from '../errors/firstlight-error.ts';
import { etcdPorts } from '../etcd/member-flags.ts';
import type { Member } from '../etcd/member.ts';
import { hostErrors } from '../host/errors.ts';
import type { Host } from '../host/host.ts';

/** What publishes at all publishes within some ten milliseconds. */
const patienceMs = 1_000;
const markFile = '/run/firstlight/etcd-started-twice';
const metricsUrl = `http://127.0.0.1:${etcdPorts.metrics}/metrics`;

export interface Questions {
  /** Whether it answers a client, asked with patience: a busy machine is no reason. */
  readonly isServing: () => Promise<boolean>;
  /** By the word of a majority, now: the last thing that is asked. */
  readonly isStillLearner: () => Promise<boolean>;
}

/** True when the member was told to end; the kubelet starts it again. */
export async function hurryEtcd(host: Host, member: Member, asked: Questions): Promise<boolean> {
  const { isServing, isStillLearner } = asked;
  if (!member.isLearner || (await host.files.readIfPresent(markFile))?.toString() === member.id) return false;
  const running = await etcdProcess(host);
  if (running === undefined || running.ageMs < patienceMs) return false;
  if (!(await hasLeader(host)) || (await isServing())) return false;
  if (!(await isStillLearner())) return false;
  await host.files.write(markFile, member.id);
  return host.processes.kill(running.pid, 'SIGTERM');
}

/** Its own numbers are served from the first moment. */
async function hasLeader(host: Host): Promise<boolean> {
  try {
    const { status, body } = await host.network.request({ url: metricsUrl, timeoutMs: 500 });
    return status === 200 && /^etcd_server_has_leader 1$/m.test(Buffer.from(body).toString('utf8'));
  } catch (error) {
    if (!isError(error, hostErrors.NETWORK)) throw error;
    return false;
  }
}

/** A machine runs one etcd at most. */
async function etcdProcess(host: Host): Promise<{ readonly pid: number; readonly ageMs: number } | undefined> {
  const ids = (await host.files.list('/proc')) ?? [];
  for (const id of ids.filter((name) => /^\d+$/.test(name))) {
    const stat = (await host.files.readIfPresent(`/proc/${id}/stat`))?.toString() ?? '';
    const read = processStart(stat);
    if (read?.name !== 'etcd') continue;
    const uptime = Number((await host.files.readText('/proc/uptime')).split(' ', 1)[0]);
    return { pid: Number(id), ageMs: uptime * 1000 - read.startedMs };
  }
  return undefined;
}

/** From /proc/PID/stat: the name is in brackets and may hold anything; the start is the 20th field after it, in 1/100 s. */
export function processStart(stat: string): { readonly name: string; readonly startedMs: number } | undefined {
  const [, name, rest] = /^\d+ \((.*)\) (.*)$/s.exec(stat) ?? [];
  const ticks = Number(rest?.split(' ')[19]);
  return name === undefined || !Number.isFinite(ticks) ? undefined : { name, startedMs: ticks * 10 };
}
