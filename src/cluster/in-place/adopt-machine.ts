// Makes a machine a member of the cluster by SSH, where no pod can do it: a bare machine that never belonged to the
// cluster, or a node whose kubelet is silent. The workstation brings program and settings itself; from then on it is an
// attempt like any other. The command may be killed anywhere and run again.
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { ownFolder } from '../../contract/asset-folder.ts';
import {
  type AttemptSettings,
  attemptKind,
  attemptName,
  type InPlaceFacts,
  inPlaceDaemonSet,
  inPlaceNamespace,
  type PreflightResult,
} from '../../contract/in-place.ts';
import type { InventoryMachine } from '../../contract/inventory.ts';
import { waitingFor } from '../../contract/missing.ts';
import { isError } from '../../errors/firstlight-error.ts';
import type { Host } from '../../host/host.ts';
import { jsonIfValid } from '../../host/json-if-valid.ts';
import { findAttemptSecret } from '../../in-place/attempt-secret.ts';
import type { AttemptView } from '../../in-place/attempt-view.ts';
import { phaseTable } from '../../in-place/phases.ts';
import { programCommand } from '../../in-place/pod/program-command.ts';
import { newReporterToken } from '../../in-place/reporting/reporter-token.ts';
import { apiPatience } from '../../kubernetes/api-patience.ts';
import { kubernetesErrors } from '../../kubernetes/errors.ts';
import { isSilentNode } from '../../kubernetes/node-object.ts';
import type { CommandLine } from '../../platform/platform.ts';
import { shellQuoted } from '../../platform/ssh-access.ts';
import { type ProgramImage, programImage } from '../../release/machine-image.ts';
import { retry } from '../../workflow/retry.ts';
import { waitUntil } from '../../workflow/wait.ts';
import { changeInventory } from '../change-inventory.ts';
import { clusterErrors } from '../errors.ts';
import { mustFindCluster } from '../find-cluster.ts';
import { mustBeJoinable } from '../later-pointer.ts';
import { findPools, poolViewNamed } from '../pools/observe-pools.ts';
import { attemptErrors } from './errors.ts';
import { findInPlaceFacts } from './in-place-facts.ts';
import { type AttemptCall, findAttempts } from './observe-attempts.ts';
import { type AttemptRequest, prepareAttempt, prepareNodes } from './prepare-attempt.ts';
import { connectSsh, type SshMachine } from './ssh.ts';
import { startAttempt } from './start-attempt.ts';

export interface AdoptMachine extends AttemptCall {
  readonly host: Host;
  readonly dir: string;
  readonly name: string;
  readonly address: string;
  readonly user: string;
  readonly keyFile: string | undefined;
  readonly pool: string;
  readonly request: AttemptRequest;
  /** What is done now, for the screen. */
  readonly onStep: (text: string) => void;
}

export interface AdoptedMachine {
  readonly node: string;
  readonly attemptId: string;
  /** The machine works on it already. */
  readonly isResumed: boolean;
}

/** Returns when the machine works on its attempt by itself. */
export async function adoptMachine(adopt: AdoptMachine): Promise<AdoptedMachine> {
  const { host, dir, name, address, user, keyFile, client, signal, onStep } = adopt;
  const { platform, name: cluster } = await mustFindCluster(host, dir);
  const { attempts } = await findAttempts(adopt);
  const running = attempts.find((attempt) => attempt.node === name && !attempt.isEnded);
  if (running !== undefined && isOnHost(running)) return { node: name, attemptId: running.attemptId, isResumed: true };
  const node = await client.find({ apiVersion: 'v1', kind: 'Node', name }, { signal });
  if (node !== undefined && !isSilentNode(node)) throw attemptErrors.NODE_ALIVE({ node: name });
  const isAdoption = node === undefined;
  if (isAdoption) await mustBeJoinable(client, adopt.pool, signal);
  onStep(`logs in on ${address} as ${user}`);
  const machine = await connectSsh(
    host,
    {
      address,
      user,
      ...(keyFile === undefined ? {} : { keyFile }),
      knownHostsFile: join(dir, ownFolder, 'known_hosts'),
      inNetwork: (command: CommandLine) => platform.commandInNetwork?.(cluster, command) ?? command,
    },
    signal,
  );
  const architecture = nodeArchitecture(machine.architecture);
  if (architecture !== host.environment.architecture) {
    throw attemptErrors.OTHER_ARCHITECTURE({ address, has: architecture, needs: host.environment.architecture });
  }
  if (isAdoption) await listMachine(adopt);
  const facts = await findInPlaceFacts(adopt);
  const order = isAdoption ? () => orderAttempt(adopt, facts) : () => orderForNode(adopt);
  const attemptId = running?.attemptId ?? (await order());
  const image = await programImage(host);
  await compareReleases(adopt, image);
  const ordered = { facts, attemptId, image, isAdoption, ackSeq: running?.ackSeq ?? 0 };
  const settings = await settingsOf(adopt, ordered);
  await bringProgram(adopt, machine, { settings, image });
  return { node: name, attemptId, isResumed: false };
}

/** The machine takes the daemon of another release from a registry: a host that is behind the cluster should know. */
async function compareReleases({ client, signal, onStep }: AdoptMachine, image: ProgramImage): Promise<void> {
  const reference = { apiVersion: 'apps/v1', kind: 'DaemonSet', namespace: inPlaceNamespace, name: inPlaceDaemonSet };
  const found = await client.find(reference, { signal });
  const deployed = JSON.stringify(found?.['spec'] ?? {});
  if (found === undefined || deployed.includes(image.reference)) return;
  onStep('the release on this host is not that of the cluster: its image must be found in a registry');
}

/** From here on nobody but the machine itself acts on it. */
function isOnHost({ phases }: AttemptView): boolean {
  return phases.some(({ phase }) => phaseTable[phase].holdsKubelet);
}

/** As Node names processors; others stay as `uname -m` has them. */
function nodeArchitecture(machine: string): string {
  const names: Readonly<Record<string, string>> = { x86_64: 'x64', aarch64: 'arm64' };
  return names[machine] ?? machine;
}

/** Only listed machines may join. */
async function listMachine({ host, dir, client, signal, name, address, pool }: AdoptMachine): Promise<void> {
  const entry: InventoryMachine = {
    name,
    role: 'worker',
    addresses: [address],
    ...(pool === 'worker' ? {} : { pool }),
  };
  await retry(apiPatience({ host, signal }), () =>
    changeInventory({
      host,
      dir,
      client,
      signal,
      change: (machines) => {
        const present = machines.find((one) => one.name === name);
        if (present !== undefined && !present.addresses.includes(address)) {
          throw clusterErrors.NODE_EXISTS({
            name,
            role: `${present.role} with the address ${present.addresses.join()}`,
          });
        }
        return [...machines.filter((one) => one !== present), entry];
      },
    }),
  );
}

/** Makes the Secret and the attempt. The controller makes the attempt of a node, and here there is none. */
async function orderAttempt(adopt: AdoptMachine, facts: InPlaceFacts): Promise<string> {
  const { host, client, signal, name, request } = adopt;
  const pool = poolViewNamed(await findPools(adopt), adopt.pool);
  const [prepared] = await prepareNodes(adopt, { pool, nodes: [name] }, request);
  if (prepared === undefined) throw new Error(`nothing was prepared for ${name}`);
  const { attemptId, os, notAfter } = prepared;
  const spec = { node: name, attemptId, os, notAfter, clusterId: facts.clusterId, isAdoption: true };
  const object = { ...attemptKind, metadata: { name: attemptName(name, attemptId) }, spec };
  await retry(apiPatience({ host, signal }), async () => {
    try {
      await client.create(object, { signal });
    } catch (error) {
      // The answer to the first try was lost.
      if (!isError(error, kubernetesErrors.ALREADY_EXISTS)) throw error;
    }
  });
  return attemptId;
}

const beginMs = 60_000;

/** As with a node that has a pod: Secret, cordon, label. The controller makes the attempt, and keeps the snapshot. */
async function orderForNode(adopt: AdoptMachine): Promise<string> {
  const { host, signal, name, request, onStep } = adopt;
  onStep(`cordons and labels ${name}, whose kubelet is silent`);
  await prepareAttempt(adopt, name, request);
  const { attemptId } = await startAttempt(adopt, name);
  return waitUntil({
    clock: host.clock,
    what: `the beginning of attempt ${attemptId}`,
    deadlineMs: beginMs,
    everyMs: 200,
    signal,
    probe: async () => {
      const { attempts } = await findAttempts(adopt);
      const hasBegun = attempts.some((attempt) => attempt.attemptId === attemptId && attempt.startedAt !== null);
      if (hasBegun) return { status: 'ready', value: attemptId };
      return {
        status: 'waiting',
        missing: [waitingFor('the controller', `to claim ${name} and to keep its snapshot`)],
      };
    },
  });
}

interface OrderedAttempt {
  readonly facts: InPlaceFacts;
  readonly attemptId: string;
  readonly image: ProgramImage;
  /** It is no node yet. */
  readonly isAdoption: boolean;
  readonly ackSeq: number;
}

/** With a new token for reports, whose digest the cluster has before the token leaves this host. */
async function settingsOf(adopt: AdoptMachine, ordered: OrderedAttempt): Promise<AttemptSettings> {
  const { host, client, signal, name } = adopt;
  const { facts, attemptId, ackSeq, isAdoption } = ordered;
  const patient = apiPatience({ host, signal });
  const secret = await retry(patient, () => findAttemptSecret(client, name));
  if (secret === undefined) throw attemptErrors.SECRET_MISSING({ node: name, secret: `ipb-${name}` });
  const token = newReporterToken(host.random);
  const reference = { ...attemptKind, name: attemptName(name, attemptId) };
  const status = { report: { tokenDigest: hash('sha256', token, 'hex') } };
  await retry(patient, () => client.mergePatch(reference, { status }, { signal, subresource: 'status' }));
  return {
    attemptId,
    node: name,
    isAdoption,
    facts,
    grant: { attemptId, secret, token, ackSeq },
    programImage: ordered.image.reference,
    lastSeq: ackSeq,
    programDigests: {},
  };
}

const copyMs = 300_000;
const bringMs = 15 * 60_000;

/** The copy is gone when this returns: the attempt has a program of its own by then. */
async function bringProgram(
  { host, name, onStep }: AdoptMachine,
  machine: SshMachine,
  { settings, image }: { readonly settings: AttemptSettings; readonly image: ProgramImage },
): Promise<void> {
  const folder = `/var/tmp/ipb-${settings.attemptId}`;
  const root = `${folder}/root`;
  onStep(`copies the program to ${name}`);
  await machine.run(`umask 077 && rm -rf ${folder} && mkdir -p ${root}`);
  try {
    for (const layer of image.layers) {
      const input = await host.files.read(layer);
      await machine.run(`tar -xf - -C ${root}`, { input, timeoutMs: copyMs });
    }
    const input = `${JSON.stringify(settings)}\n`;
    await machine.run(`umask 077 && cat > ${folder}/settings.json`, { input });
    onStep(`checks ${name}`);
    const words = ['ipb', 'bring', '--settings', `${folder}/settings.json`, '--program', root, '-o', 'json'];
    const command = programCommand(root, host.environment.architecture, words);
    const answer = await machine.run(command.map(shellQuoted).join(' '), { timeoutMs: bringMs });
    mustHaveBegun(name, answer);
  } finally {
    await machine.run(`rm -rf ${folder}`);
  }
}

function mustHaveBegun(node: string, answer: string): void {
  const { isStarted = false, preflight = [] } = (jsonIfValid(answer) ?? {}) as {
    readonly isStarted?: boolean;
    readonly preflight?: readonly PreflightResult[];
  };
  if (isStarted) return;
  throw attemptErrors.MACHINE_REFUSED({ node, failed: preflight.filter(({ outcome }) => outcome === 'failed') });
}
