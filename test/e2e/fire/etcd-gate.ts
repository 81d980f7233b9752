// A gate between those who look after the members of etcd (bootkube, later the masters' agents) and the members: every call
// goes through it, so that a test can lose an answer, refuse a call or do something at the very moment between a call and
// its answer. The gate stands in the switch's namespace; packets get there by a rule in the namespace of each machine.
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { machineNamespace, namespacePath, switchNamespace } from '../../../src/platform/local/cluster-folder.ts';
import { eventually } from '../machine-lab.ts';
import { etcdIdentity } from './etcd-identity.ts';
import { etcdMachines, switchAddressOf } from './etcd-machines.ts';
import type { MembershipCall } from './kill-plan.ts';

/** What happens to the calls of one kind. */
export type GateRule =
  | 'pass'
  /** Not sent on; the answer is etcd's own "unhealthy cluster". */
  | 'refuse'
  /** One is passed and carried out, then all are refused. */
  | 'pass-one'
  /** The answer to the next one that is carried out never comes; then all are passed. */
  | 'lose-answer'
  /** Sent on and carried out; the answer comes when the rule changes. */
  | 'hold-answer';

export type GatedCall = MembershipCall | 'MoveLeader';

export interface GateEvent {
  readonly call: GatedCall;
  /** The machine that asked. */
  readonly from: string;
  /** The member that was asked. */
  readonly member: string;
  /** Whom it is about: the peer URL of an addition, else the member's ID as etcd prints it. */
  readonly about: string;
  readonly kind: 'asked' | 'refused' | 'answered';
  readonly grpcStatus: string;
  readonly atMs: number;
}

export interface GateSettings {
  readonly listen: string;
  readonly members: readonly { readonly name: string; readonly address: string; readonly port: number }[];
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
}

export interface EtcdGate {
  readonly events: () => readonly GateEvent[];
  readonly set: (call: GatedCall, rule: GateRule) => void;
  /** Called as soon as something happens at the gate. */
  readonly onEvent: (listener: (event: GateEvent) => void) => void;
  /** Puts the rule in a machine's namespace in place again: a reboot takes it away. */
  readonly lead: (machine: string) => void;
  readonly close: () => void;
}

const firstPort = 12_379;

/** Calls of one kind that etcd carried out, whoever heard of it. */
export function carriedOut(gate: EtcdGate, call: GatedCall): readonly GateEvent[] {
  return gate.events().filter((event) => event.call === call && event.kind === 'answered' && event.grpcStatus === '0');
}

/** What etcd was made to do twice. */
export function repeated(gate: EtcdGate): readonly string[] {
  return (['MemberAdd', 'MemberPromote', 'MemberRemove'] as const).flatMap((call) => {
    const abouts = carriedOut(gate, call).map(({ about }) => about);
    return abouts.filter((about, index) => abouts.indexOf(about) < index).map((about) => `${call} ${about}`);
  });
}

/** `machines`: whose calls go through it. */
export async function openEtcdGate(dir: string, infraId: string, machines: readonly string[]): Promise<EtcdGate> {
  const members = etcdMachines(dir).map((machine, index) => ({ ...machine, port: firstPort + index }));
  const listen = switchAddressOf(infraId);
  const { ca, certificate, key } = etcdIdentity(dir);
  const read = (path: string): string => readFileSync(path, 'utf8');
  const settings: GateSettings = { listen, members, ca: read(ca), certificate: read(certificate), key: read(key) };
  const script = resolve('test/e2e/fire/etcd-gate-server.ts');
  const enter = `--net=${namespacePath(switchNamespace(infraId))}`;
  const child = spawn('nsenter', [enter, process.execPath, script], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.write(`${JSON.stringify(settings)}\n`);
  child.stdin.on('error', () => {});
  const events: GateEvent[] = [];
  const listeners: ((event: GateEvent) => void)[] = [];
  let isReady = false;
  let rest = '';
  child.stdout.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString('utf8')).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line === 'ready') isReady = true;
      else {
        const event = JSON.parse(line) as GateEvent;
        events.push(event);
        for (const listener of listeners) listener(event);
      }
    }
  });
  await eventually('the start of the gate', 20, async () => (isReady ? true : undefined));
  const lead = (machine: string): void => {
    if (machines.includes(machine)) leadThrough(infraId, machine, { listen, members });
  };
  for (const machine of machines) lead(machine);
  return {
    events: () => events,
    set: (call, rule) => void child.stdin.write(`${JSON.stringify({ call, rule })}\n`),
    onEvent: (listener) => void listeners.push(listener),
    lead,
    close: () => void child.kill(),
  };
}

function leadThrough(
  infraId: string,
  machine: string,
  { listen, members }: Pick<GateSettings, 'listen' | 'members'>,
): void {
  const rules = members.map(({ address, port }) => `ip daddr ${address} tcp dport 2379 dnat ip to ${listen}:${port}`);
  const table = 'firstlight_fire_gate';
  const text = [
    `table ip ${table}`,
    `delete table ip ${table}`,
    `table ip ${table} {`,
    '  chain out {',
    '    type nat hook output priority -150;',
    ...rules.map((rule) => `    ${rule}`),
    '  }',
    '}',
    '',
  ].join('\n');
  const namespace = `--net=${namespacePath(machineNamespace(infraId, machine))}`;
  execFileSync('nsenter', [namespace, 'nft', '-f', '-'], { input: text });
}
