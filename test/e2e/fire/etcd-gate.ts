// A gate between bootkube and the etcd members: every call that bootkube sends to a member goes through it, so that a test
// can lose an answer, refuse a call or do something at the very moment between a call and its answer. The gate stands in
// the switch's namespace; packets get there by a rule in the bootstrap machine's own. It holds a server certificate of the
// cluster's etcd authority and the identity that bootkube has, both made from the asset folder by openssl.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { machineNamespace, namespacePath, switchNamespace } from '../../../src/platform/local/cluster-folder.ts';
import { eventually } from '../machine-lab.ts';
import type { MembershipCall } from './kill-plan.ts';

/** What happens to the calls of one kind. */
export type GateRule =
  | 'pass'
  /** Not sent on; the answer is etcd's own "unhealthy cluster". */
  | 'refuse'
  /** Sent on and carried out; the answer never comes. */
  | 'lose-answer'
  /** Sent on and carried out; the answer comes when the rule changes. */
  | 'hold-answer';

export type GatedCall = MembershipCall | 'MoveLeader';

export interface GateEvent {
  readonly call: GatedCall;
  /** The member that was asked. */
  readonly member: string;
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
  /** Puts the rule in the machine's namespace in place again: a reboot takes it away. */
  readonly lead: () => void;
  readonly close: () => void;
}

const firstPort = 12_379;

interface Member {
  readonly name: string;
  readonly address: string;
}

export async function openEtcdGate(dir: string, infraId: string): Promise<EtcdGate> {
  const { machines } = JSON.parse(readFileSync(join(dir, 'inventory.json'), 'utf8')) as {
    machines: { name: string; role: string; addresses: string[] }[];
  };
  const members = machines
    .filter(({ role }) => role !== 'worker')
    .map(({ name, addresses }, index) => ({ name, address: addresses[0] ?? '', port: firstPort + index }));
  const { machineNetwork } = JSON.parse(
    readFileSync(`/var/lib/firstlight/clusters/${infraId}/cluster.json`, 'utf8'),
  ) as { machineNetwork: string };
  // The switch has the first address of the network.
  const listen = machineNetwork.replace(/\.\d+\/\d+$/, '.1');
  const settings: GateSettings = { listen, members, ...makeIdentity(dir, members) };
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
  const lead = (): void => leadThrough(infraId, listen, members);
  lead();
  return {
    events: () => events,
    set: (call, rule) => void child.stdin.write(`${JSON.stringify({ call, rule })}\n`),
    onEvent: (listener) => void listeners.push(listener),
    lead,
    close: () => void child.kill(),
  };
}

function leadThrough(infraId: string, listen: string, members: GateSettings['members']): void {
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
  const namespace = `--net=${namespacePath(machineNamespace(infraId, 'bootstrap'))}`;
  execFileSync('nsenter', [namespace, 'nft', '-f', '-'], { input: text });
}

/** One certificate for both sides: it serves under the addresses of all members and speaks as the membership client. */
function makeIdentity(dir: string, members: readonly Member[]): Pick<GateSettings, 'ca' | 'certificate' | 'key'> {
  const folder = mkdtempSync(join(tmpdir(), 'firstlight-gate-'));
  try {
    const file = (name: string): string => join(folder, name);
    const ca = join(dir, 'tls/etcd-signer.crt');
    const names = [...members.flatMap(({ name, address }) => [`DNS:${name}`, `IP:${address}`]), 'DNS:localhost'];
    writeFileSync(file('ext'), `subjectAltName=${names.join(',')}\nextendedKeyUsage=serverAuth,clientAuth\n`);
    const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', file('key')];
    const openssl = (...args: readonly string[]): void => void execFileSync('openssl', args, { stdio: 'ignore' });
    openssl('req', '-new', ...newKey, '-out', file('csr'), '-subj', '/CN=etcd-membership-client');
    const sign = ['-CA', ca, '-CAkey', join(dir, 'tls/etcd-signer.key'), '-set_serial', '77', '-days', '2'];
    openssl('x509', '-req', '-in', file('csr'), ...sign, '-extfile', file('ext'), '-out', file('crt'));
    const read = (path: string): string => readFileSync(path, 'utf8');
    return { ca: read(ca), certificate: read(file('crt')), key: read(file('key')) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
