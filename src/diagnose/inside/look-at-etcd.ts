// The etcd member of this machine, as the member itself reports it, and whether the members of other machines can be
// reached from here. Nothing of it goes through etcd's log, so it also works without a quorum.
import { controlPlanePki } from '../../contract/machine-paths.ts';
import { etcdPorts, httpsUrl } from '../../contract/ports.ts';
import { FirstlightError } from '../../errors/firstlight-error.ts';
import { type EtcdTls, etcdClients } from '../../etcd/client.ts';
import type { Host } from '../../host/host.ts';
import { Secret } from '../../host/secret.ts';
import { attempt } from './failed-attempt.ts';
import type { InsideFacts } from './inside-facts.ts';

type EtcdFacts = NonNullable<InsideFacts['etcd']>;

const connectMs = 3_000;
const askMs = 3_000;

/** `peers` are addresses of other control-plane machines. Undefined on a machine that has no key of a client. */
export async function lookAtEtcd(host: Host, peers: readonly string[]): Promise<EtcdFacts | undefined> {
  const identity = await readIdentity(host);
  if (identity === undefined) return undefined;
  const tries = peers.flatMap((address) => [etcdPorts.client, etcdPorts.peer].map((port) => ({ address, port })));
  const [{ isListening, member }, reached, fsyncP99Ms] = await Promise.all([
    lookAtOwn(host, identity),
    Promise.all(
      tries.map(async (each) => ({
        ...each,
        ...(await attempt(host.network.probe(each.address, each.port, connectMs))),
      })),
    ),
    readFsync(host),
  ]);
  return {
    isListening,
    peers: reached,
    ...(member === undefined ? {} : { member }),
    ...(fsyncP99Ms === undefined ? {} : { fsyncP99Ms }),
  };
}

async function readIdentity({ files }: Pick<Host, 'files'>): Promise<EtcdTls | undefined> {
  const read = async (name: string): Promise<string | undefined> => {
    const content = await files.readIfPresent(`${controlPlanePki}/${name}`);
    return content === undefined ? undefined : Buffer.from(content).toString('utf8');
  };
  const leaf = 'etcd-membership-client';
  const [caPem, certificatePem, key] = [
    await read('etcd-ca.crt'),
    await read(`${leaf}.crt`),
    await read(`${leaf}.key`),
  ];
  if (caPem === undefined || certificatePem === undefined || key === undefined) return undefined;
  return { caPem, certificatePem, keyPem: new Secret(key) };
}

async function lookAtOwn(
  host: Host,
  identity: EtcdTls,
): Promise<{ readonly isListening: boolean; readonly member?: EtcdFacts['member'] }> {
  const { failure } = await attempt(host.network.probe('127.0.0.1', etcdPorts.client, connectMs));
  if (failure !== undefined) return { isListening: false };
  // A damaged certificate of ours says nothing about the member.
  return { isListening: true, member: await askMember(host, identity).catch(() => undefined) };
}

async function askMember(host: Host, identity: EtcdTls): Promise<EtcdFacts['member']> {
  using clients = etcdClients(identity, host.clock);
  const client = clients.at(httpsUrl('127.0.0.1', etcdPorts.client));
  const [status, list] = await Promise.all([
    client.status({ timeoutMs: askMs }),
    client.memberList({ timeoutMs: askMs, isLinearizable: false }),
  ]);
  if (status.status !== 'ok' || list.status !== 'ok') return undefined;
  const { id, leader, isLearner, alarms } = status.value;
  return {
    id,
    isLearner,
    ...(leader === undefined ? {} : { leader }),
    alarms: [...new Set(alarms.map(({ kind }) => kind))],
    members: list.value.members.map((one) => ({
      id: one.id,
      name: one.name,
      isLearner: one.isLearner,
      peerUrls: [...one.peerUrls],
    })),
  };
}

async function readFsync({ network }: Pick<Host, 'network'>): Promise<number | undefined> {
  try {
    const url = `http://127.0.0.1:${etcdPorts.metrics}/metrics`;
    const { body } = await network.request({ url, timeoutMs: askMs });
    return fsyncPercentile(Buffer.from(body).toString('utf8'));
  } catch (error) {
    if (error instanceof FirstlightError) return undefined;
    throw error;
  }
}

const bucketLine = /^etcd_disk_wal_fsync_duration_seconds_bucket\{le="([^"]+)"\} (\S+)$/gm;

/** Milliseconds that one write in a hundred takes at least, since the member started: the lower end of its bucket. */
export function fsyncPercentile(metrics: string): number | undefined {
  const buckets = [...metrics.matchAll(bucketLine)].map(([, bound = '', count = '']) => ({
    boundMs: Number(bound.replace('+Inf', 'Infinity')) * 1000,
    count: Number(count),
  }));
  const total = buckets.at(-1)?.count ?? 0;
  if (total === 0) return undefined;
  const index = buckets.findIndex(({ count }) => count >= total * 0.99);
  return index <= 0 ? 0 : buckets[index - 1]?.boundMs;
}
