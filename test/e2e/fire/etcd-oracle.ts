// The members of a cluster's etcd in the words of etcdctl, each asked from its own machine: through no gate, over no wire
// that a test may have cut, and by no code of ours.
import { execFile } from 'node:child_process';
import { machineNamespace, namespacePath } from '../../../src/platform/local/cluster-folder.ts';
import { oracleProgram } from '../../oracle/programs.ts';
import { etcdIdentity } from './etcd-identity.ts';
import { etcdMachines } from './etcd-machines.ts';
import type { FireCluster } from './fire-cluster.ts';

export interface ListedMember {
  /** As etcd prints it. */
  readonly id: string;
  /** The machine. */
  readonly name: string;
  readonly isLearner: boolean;
  readonly hasStarted: boolean;
}

/** Undefined when nobody who was asked could give the word of a majority. */
export async function listMembers(
  cluster: FireCluster,
  asked?: readonly string[],
): Promise<readonly ListedMember[] | undefined> {
  const machines = etcdMachines(cluster.dir);
  for (const { name } of machines) {
    if (asked !== undefined && !asked.includes(name)) continue;
    const text = await etcdctl(cluster, name, 'member', 'list', '--hex', '--write-out=json');
    if (text === undefined) continue;
    // IDs are larger than JavaScript's numbers.
    const { members } = JSON.parse(text.replaceAll(/"ID":(\d+)/g, '"ID":"$1"')) as {
      members: { ID: string; name?: string; peerURLs: string[]; isLearner?: boolean }[];
    };
    return members.map(({ ID, name: own = '', peerURLs, isLearner = false }) => ({
      id: /^\d+$/.test(ID) ? BigInt(ID).toString(16) : ID,
      name: machines.find((machine) => peerURLs[0] === `https://${machine.address}:2380`)?.name ?? '',
      isLearner,
      hasStarted: own !== '',
    }));
  }
  return undefined;
}

/** Names of those who vote, in order; undefined while nobody can say. */
export async function voterNames(
  cluster: FireCluster,
  asked?: readonly string[],
): Promise<readonly string[] | undefined> {
  const members = await listMembers(cluster, asked);
  return members
    ?.filter(({ isLearner }) => !isLearner)
    .map(({ name }) => name)
    .toSorted();
}

/** The machine whose member leads, in the words of this machine's. */
export async function leaderName(cluster: FireCluster, asked: string): Promise<string | undefined> {
  const text = await etcdctl(cluster, asked, 'endpoint', 'status', '--write-out=json');
  const leader = /"leader":(\d+)/.exec(text ?? '')?.[1];
  if (leader === undefined) return undefined;
  const id = BigInt(leader).toString(16);
  return (await listMembers(cluster))?.find((member) => member.id === id)?.name;
}

/** Whether etcd takes a write through one of these machines now. */
export async function takesWrites(cluster: FireCluster, asked: readonly string[]): Promise<boolean> {
  for (const machine of asked) {
    const answer = await etcdctl(cluster, machine, 'put', '/fire/probe', String(Date.now()));
    if (answer !== undefined) return true;
  }
  return false;
}

/** What etcdctl prints on a machine; undefined when it fails. */
export function etcdctl(
  cluster: Pick<FireCluster, 'dir' | 'infraId'>,
  machine: string,
  ...args: readonly string[]
): Promise<string | undefined> {
  const { ca, certificate, key } = etcdIdentity(cluster.dir);
  const how = ['--endpoints=https://127.0.0.1:2379', `--cacert=${ca}`, `--cert=${certificate}`, `--key=${key}`];
  const times = ['--dial-timeout=1s', '--command-timeout=2s'];
  const enter = `--net=${namespacePath(machineNamespace(cluster.infraId, machine))}`;
  return new Promise((done) => {
    execFile('nsenter', [enter, oracleProgram('etcdctl'), ...how, ...times, ...args], (error, stdout) =>
      done(error === null ? stdout : undefined),
    );
  });
}
