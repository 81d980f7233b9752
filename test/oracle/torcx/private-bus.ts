// A real dbus-daemon on a socket of its own, and the process that owns the two names on it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Behaviour } from './bus-owner.ts';

export interface BusEvent {
  readonly call?: string;
  readonly args?: readonly unknown[];
  readonly watched?: boolean;
  readonly ready?: boolean;
}

export interface PrivateBus extends AsyncDisposable {
  readonly address: string;
  readonly calls: BusEvent[];
  /** Resolves once the owner behaves so; forgets earlier calls. */
  become(behaviour: Partial<Behaviour>): Promise<void>;
  onCall: (event: BusEvent) => void;
}

const usual: Behaviour = {
  engine: 'present',
  status: { operation: 'IDLE' },
  onAttempt: [{ operation: 'CHECKING_FOR_UPDATE' }, { operation: 'IDLE' }],
  enable: 'accept',
  startUnit: 'accept',
};

export async function startPrivateBus(): Promise<PrivateBus> {
  const folder = mkdtempSync('/tmp/flbus-');
  const address = `unix:path=${join(folder, 'bus')}`;
  writeFileSync(join(folder, 'config'), busConfig(address));
  const daemon = spawn(
    'dbus-daemon',
    [`--config-file=${join(folder, 'config')}`, '--nofork', '--nopidfile', '--print-address=1'],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  await once(daemon.stdout, 'data');
  const owner = spawn(process.execPath, [fileURLToPath(new URL('bus-owner.ts', import.meta.url)), address], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const calls: BusEvent[] = [];
  let ready: () => void = () => {};
  const bus: PrivateBus = {
    address,
    calls,
    onCall: () => {},
    become: async (behaviour) => {
      const done = new Promise<void>((resolve) => (ready = resolve));
      owner.stdin.write(`${JSON.stringify({ ...usual, ...behaviour })}\n`);
      await done;
      calls.length = 0;
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([end(owner), end(daemon)]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
  const up = new Promise<void>((resolve) => (ready = resolve));
  createInterface({ input: owner.stdout }).on('line', (line) => {
    const event = JSON.parse(line) as BusEvent;
    if (event.ready === true) return ready();
    calls.push(event);
    bus.onCall(event);
  });
  await up;
  return bus;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
}

/** Everybody may own and send anything: the product must be safe on such a bus. */
function busConfig(address: string): string {
  return `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <listen>${address}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/>
    <allow own="*"/>
    <allow send_type="method_call"/>
    <allow send_type="signal"/>
    <allow send_requested_reply="true" send_type="method_return"/>
    <allow send_requested_reply="true" send_type="error"/>
    <allow receive_type="method_call"/>
    <allow receive_type="method_return"/>
    <allow receive_type="error"/>
    <allow receive_type="signal"/>
  </policy>
</busconfig>
`;
}
