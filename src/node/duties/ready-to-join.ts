// Publishes that this master can run a member of etcd, after checking image, certificates, disk and clock: a member
// that is added and cannot start holds a place. It publishes again while the master waits, because old records are not
// used, and when the disk gets full or has space again, because a member that cannot write counts as faulty.
import { containerdSocket, etcdDataFolder } from '../../contract/machine-paths.ts';
import { waitingFor } from '../../contract/missing.ts';
import { readReleaseFacts } from '../../contract/release-facts.ts';
import { growthLimits } from '../../membership/growth-limits.ts';
import {
  type JoinRecord,
  joinRecordObject,
  joinRecordReference,
  readJoinRecord,
} from '../../membership/join-record.ts';
import { isFullDisk } from '../../membership/membership-view.ts';
import { type Agent, addressOf } from '../agent-context.ts';
import { acted, type Duty, settled, waiting } from '../duty.ts';
import { measureClockOffset, measureFsync } from '../machine-fitness.ts';
import { type OwnMember, observeOwnMember } from '../own-member.ts';
import { runCommand } from '../run-command.ts';

/** Less than half of the age at which the rules of membership no longer accept a record. */
const repeatMs = 10_000;
/** A slow disk may only have been busy, for example while other masters start on the same host; measure again soon. */
const slowRepeatMs = 1_000;

export const readyToJoinDuty: Duty = {
  name: 'ready-to-join',
  roles: ['master'],
  needs: ['credentials', 'cluster-view'],
  run: async (agent) => {
    const { host, node } = agent;
    const seen = await observeOwnMember(agent);
    const isReady = seen.decision.kind === 'wait';
    const last = lastRecord(agent);
    const lostDataOf = seen.decision.kind === 'data-lost' ? seen.decision.member : undefined;
    await host.files.makeFolder(etcdDataFolder, { mode: 0o700 });
    const freeDiskBytes = await host.files.freeBytes(etcdDataFolder);
    const isFull = isFullDisk(freeDiskBytes);
    const isPublished =
      last !== undefined &&
      last.isReady === isReady &&
      last.lostDataOf === lostDataOf &&
      isFullDisk(last.freeDiskBytes) === isFull;
    const ageMs = last === undefined ? Number.POSITIVE_INFINITY : host.clock.now().getTime() - last.at.getTime();
    const isSlow = last !== undefined && last.fsyncP99Ms > growthLimits.fsyncLimitMs;
    if (isPublished && (!isReady || Math.abs(ageMs) < (isSlow ? slowRepeatMs : repeatMs))) {
      if (isReady || lostDataOf !== undefined) return waiting(waitingFor(node.name, 'to be added to etcd'));
      return isFull ? waiting(waitingFor(`space in ${etcdDataFolder}`)) : settled();
    }
    const { etcdImage, etcdVersion } = await readReleaseFacts(host);
    if (!(await hasImage(agent, etcdImage))) return waiting(waitingFor(`the image ${etcdImage}`, 'in containerd'));
    const record = await recordOf(agent, seen, {
      isReady,
      etcdVersion,
      freeDiskBytes,
      ...(lostDataOf === undefined ? {} : { lostDataOf }),
    });
    const client = await agent.api();
    await client.apply(joinRecordObject(record), { force: true, signal: agent.signal });
    return isReady ? waiting(waitingFor(node.name, 'to be added to etcd')) : acted('said how its etcd member is');
  },
};

function lastRecord({ cluster, node }: Agent): JoinRecord | undefined {
  const { name } = joinRecordReference(node.name);
  const found = cluster.configMaps.find(({ metadata }) => metadata.name === name);
  return found === undefined ? undefined : readJoinRecord(found);
}

async function recordOf(
  agent: Agent,
  { peerUrl, clientUrl }: OwnMember,
  published: Pick<JoinRecord, 'isReady' | 'etcdVersion' | 'freeDiskBytes' | 'lostDataOf'>,
): Promise<JoinRecord> {
  const { host, node, apiServerUrl } = agent;
  const last = lastRecord(agent);
  return {
    node: node.name,
    address: addressOf(agent),
    peerUrl,
    clientUrl,
    at: host.clock.now(),
    clockOffsetMs: await measureClockOffset(host, apiServerUrl),
    fsyncP99Ms: await diskSpeed(host, last, published),
    ...published,
  };
}

/** A disk that was fast enough once stays so; a slow one may have been busy at that moment and is measured again. */
async function diskSpeed(
  host: Agent['host'],
  last: JoinRecord | undefined,
  { freeDiskBytes }: Pick<JoinRecord, 'freeDiskBytes'>,
): Promise<number> {
  // Writing cannot measure a full disk, and space is its problem, not speed.
  if (isFullDisk(freeDiskBytes)) return last?.fsyncP99Ms ?? 0;
  const isKnown = last?.isReady === true && last.fsyncP99Ms <= growthLimits.fsyncLimitMs;
  return isKnown ? last.fsyncP99Ms : measureFsync(host, etcdDataFolder);
}

async function hasImage({ host }: Agent, reference: string): Promise<boolean> {
  const filter = `name==${reference}`;
  const args = ['--address', containerdSocket, '--namespace', 'k8s.io', 'images', 'list', '--quiet', filter];
  return (await runCommand(host, 'ctr', args)).includes(reference);
}
