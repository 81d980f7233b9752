// Real etcd processes on loopback with certificates of ours, and for each master a small agent that starts its member by
// the product's own rules. Every process is ended by its pid; the folder goes with the lab.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { httpsUrl } from '../../src/contract/ports.ts';
import { type MemberFiles, type MemberPorts, memberFlags } from '../../src/control-plane/member-flags.ts';
import { type EtcdClients, type EtcdTls, etcdClients } from '../../src/etcd/client.ts';
import { archiveData, readDataFolder } from '../../src/etcd/data-folder.ts';
import type { Member, MemberId } from '../../src/etcd/member.ts';
import { realHost } from '../../src/host/real/real-host.ts';
import { decideStart, type Listing, type StartDecision } from '../../src/membership/member-start.ts';
import type { MembershipFacts, ObservedMaster } from '../../src/membership/observed-cluster.ts';
import { issueLeaf, issueSigner } from '../../src/pki/issue.ts';
import { type MachineLeafName, machineLeaf, signerProfiles } from '../../src/pki/profiles.ts';
import { freePorts } from './free-ports.ts';
import { oracleProgram } from './programs.ts';

export interface LabMachine {
  readonly name: string;
  readonly ports: MemberPorts;
  readonly peerUrl: string;
  readonly clientUrl: string;
  readonly dataFolder: string;
  readonly files: MemberFiles;
  process: ChildProcess | undefined;
  /** What the agent last decided; undefined while it is not watching. */
  decision: StartDecision | undefined;
}

export interface EtcdLab extends AsyncDisposable {
  readonly bootstrap: LabMachine;
  readonly masters: readonly LabMachine[];
  readonly tls: EtcdTls;
  readonly clients: EtcdClients;
  readonly handoff: { isCommitted: boolean };
  startBootstrap(...moreFlags: readonly string[]): Promise<void>;
  /** Lets the machine's agent decide once, and does what it decided. */
  agentStep(machine: LabMachine): Promise<void>;
  /** What the machine's etcd is started with. */
  flagsOf(machine: LabMachine, initial: Initial): readonly string[];
  /** Lets agents decide every 100 ms until aborted. */
  runAgents(machines: readonly LabMachine[], signal: AbortSignal): Promise<void>;
  kill(machine: LabMachine, signal?: NodeJS.Signals): Promise<void>;
  wipe(machine: LabMachine): void;
  facts(options?: { readonly published?: readonly MemberId[]; readonly ready?: readonly string[] }): MembershipFacts;
  /** The members as etcdctl lists them, by name or peer URL, `name:role` sorted. */
  etcdctlMembers(at: LabMachine): readonly string[];
  etcdctl(at: LabMachine, ...args: readonly string[]): string;
}

type Initial = Pick<Parameters<typeof memberFlags>[0], 'initialCluster' | 'initialState'>;

const host = realHost();

export async function etcdLab(masterCount: number): Promise<EtcdLab> {
  const folder = mkdtempSync(join(tmpdir(), 'firstlight-etcd-'));
  const issuing = { random: host.random, now: new Date() };
  const signer = issueSigner(signerProfiles['etcd-signer'], issuing);
  const cluster = { domain: 'lab.firstlight.test', serviceAddresses: [], apiVips: [] };
  const ca = join(folder, 'ca.crt');
  writeFileSync(ca, signer.certificatePem);
  const leaf = (name: MachineLeafName, machine: string) => {
    const made = issueLeaf(
      machineLeaf(name, { cluster, machine: { name: machine, addresses: ['127.0.0.1'] } }),
      signer,
      issuing,
    );
    const at = (suffix: string): string => join(folder, `${machine}-${name}.${suffix}`);
    writeFileSync(at('crt'), made.certificatePem);
    writeFileSync(at('key'), made.key.privatePem.reveal(), { mode: 0o600 });
    return { certificate: at('crt'), key: at('key'), made };
  };
  const machine = async (name: string): Promise<LabMachine> => {
    const [client = 0, peer = 0, metrics = 0] = await freePorts(3);
    const server = leaf('etcd-server', name);
    const peering = leaf('etcd-peer', name);
    const dataFolder = join(folder, name);
    mkdirSync(dataFolder, { mode: 0o700 });
    return {
      name,
      ports: { client, peer, metrics },
      peerUrl: httpsUrl('127.0.0.1', peer),
      clientUrl: httpsUrl('127.0.0.1', client),
      dataFolder,
      files: {
        ca,
        serverCertificate: server.certificate,
        serverKey: server.key,
        peerCertificate: peering.certificate,
        peerKey: peering.key,
      },
      process: undefined,
      decision: undefined,
    };
  };
  const bootstrap = await machine('bootstrap');
  const masters = await Promise.all(Array.from({ length: masterCount }, (_, index) => machine(`master-${index}`)));
  const client = leaf('etcd-membership-client', 'workstation');
  const tls = {
    caPem: signer.certificatePem,
    certificatePem: client.made.certificatePem,
    keyPem: client.made.key.privatePem,
  };
  return labOf({ folder, bootstrap, masters, tls, ctlFiles: { ca, certificate: client.certificate, key: client.key } });
}

interface LabParts {
  readonly folder: string;
  readonly bootstrap: LabMachine;
  readonly masters: readonly LabMachine[];
  readonly tls: EtcdTls;
  readonly ctlFiles: { readonly ca: string; readonly certificate: string; readonly key: string };
}

function labOf({ folder, bootstrap, masters, tls, ctlFiles }: LabParts): EtcdLab {
  const clients = etcdClients(tls, host.clock);
  const machines = [bootstrap, ...masters];
  const names = new Map(machines.map(({ peerUrl, name }) => [peerUrl, name]));
  const flagsOf: EtcdLab['flagsOf'] = ({ name, ports, dataFolder, files }, initial) =>
    memberFlags({
      name,
      address: '127.0.0.1',
      ports,
      dataFolder,
      files,
      clusterToken: 'lab',
      ...initial,
      maxLearners: masters.length,
      profile: 'normal',
    });
  const start = (machine: LabMachine, initial: Initial, moreFlags: readonly string[] = []): void => {
    const { name } = machine;
    const flags = flagsOf(machine, initial);
    const log = openSync(join(folder, `${name}.log`), 'a');
    const child = spawn(oracleProgram('etcd'), [...flags, ...moreFlags], { stdio: ['ignore', log, log] });
    machine.process = child;
    child.once('exit', () => {
      if (machine.process === child) machine.process = undefined;
    });
  };
  const listing = async (): Promise<Listing> => {
    for (const { clientUrl } of machines) {
      const answer = await clients.at(clientUrl).memberList({ isLinearizable: true, timeoutMs: 500 });
      if (answer.status === 'ok') return { status: 'read', ...answer.value };
    }
    return { status: 'unreachable' };
  };
  const etcdctl = (at: LabMachine, ...args: readonly string[]): string =>
    execFileSync(
      oracleProgram('etcdctl'),
      [
        `--endpoints=${at.clientUrl}`,
        `--cacert=${ctlFiles.ca}`,
        `--cert=${ctlFiles.certificate}`,
        `--key=${ctlFiles.key}`,
        ...args,
      ],
      { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
    );
  const handoff = { isCommitted: false };
  const agentStep = async (machine: LabMachine): Promise<void> => {
    if (machine.process !== undefined) return;
    const { name, peerUrl, dataFolder } = machine;
    const data = await readDataFolder(host.files, dataFolder);
    const decision = decideStart({ name, peerUrl, listing: await listing(), data, names });
    machine.decision = decision;
    if (decision.kind === 'archive') await archiveData(host.files, dataFolder, new Date());
    if (decision.kind === 'join') start(machine, { initialCluster: decision.initialCluster, initialState: 'existing' });
    if (decision.kind === 'resume') start(machine, { initialCluster: [{ name, peerUrl }], initialState: 'existing' });
  };
  return {
    bootstrap,
    masters,
    tls,
    clients,
    handoff,
    etcdctl,
    flagsOf,
    agentStep,
    startBootstrap: async (...moreFlags) => {
      const { name, peerUrl } = bootstrap;
      start(bootstrap, { initialCluster: [{ name, peerUrl }], initialState: 'new' }, moreFlags);
      await until('the bootstrap member answers', async () => (await listing()).status === 'read');
    },
    runAgents: async (watched, signal) => {
      await Promise.all(
        watched.map(async (machine) => {
          while (!signal.aborted) {
            await agentStep(machine);
            await new Promise((resolve) => setTimeout(resolve, 100));
          }
        }),
      );
    },
    kill: async (machine, signal = 'SIGKILL') => {
      const child = machine.process;
      if (child === undefined) return;
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill(signal);
      await gone;
    },
    wipe: ({ dataFolder }) => rmSync(join(dataFolder, 'member'), { recursive: true }),
    facts: (options = {}) => ({
      bootstrap,
      masters: masters.map((machine) => observedMaster(machine)),
      handoff: {
        isCommitted: handoff.isCommitted,
        readyApiServers: options.ready ?? masters.map(({ name }) => name),
        bootstrapApi: 'closed',
        publishedMembers: options.published,
      },
      maxLearners: masters.length,
    }),
    etcdctlMembers: (at) => {
      const { members } = JSON.parse(etcdctl(at, 'member', 'list', '-w', 'json')) as { members: readonly CtlMember[] };
      return members
        .map(
          (member) =>
            `${names.get(member.peerURLs[0] ?? '') ?? '?'}:${member.isLearner === true ? 'learner' : 'voter'}`,
        )
        .toSorted();
    },
    [Symbol.asyncDispose]: async () => {
      clients[Symbol.dispose]();
      for (const { process } of machines) process?.kill('SIGKILL');
      await until('every etcd is gone', async () => machines.every(({ process }) => process === undefined));
      rmSync(folder, { recursive: true });
    },
  };
}

type CtlMember = { readonly peerURLs: readonly string[]; readonly isLearner?: boolean };

function observedMaster({ name, peerUrl, clientUrl, decision, process }: LabMachine): ObservedMaster {
  return {
    name,
    peerUrl,
    clientUrl,
    readiness:
      decision?.kind === 'wait' && process === undefined
        ? { agoMs: 0, etcdVersion: '3.7.3', fsyncP99Ms: 5, clockOffsetMs: 0 }
        : undefined,
    lostDataOf: decision?.kind === 'data-lost' ? decision.member : undefined,
    freeDiskBytes: 2 ** 33,
    isLeaving: false,
    isGone: false,
  };
}

export function votersOf(members: readonly Member[]): readonly string[] {
  return members.filter((member) => !member.isLearner).map((member) => member.name);
}

export async function until(what: string, isSo: () => Promise<boolean>, limitMs = 30_000): Promise<void> {
  const endMs = performance.now() + limitMs;
  while (!(await isSo())) {
    if (performance.now() > endMs) throw new Error(`${what}: not within ${limitMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
