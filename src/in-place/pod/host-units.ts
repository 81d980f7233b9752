// systemd of the host, from inside the pod: by the D-Bus socket of the host. A unit that the pod makes there is a
// process of the host, with the files and the network of the host, and lives on when the pod ends.

import { isError } from '../../errors/firstlight-error.ts';
import type { BusConnection } from '../../host/bus.ts';
import { hostErrors } from '../../host/errors.ts';
import type { Host } from '../../host/host.ts';
import { Doorbell } from '../../workflow/doorbell.ts';
import { pause } from '../../workflow/pause.ts';
import { inPlacePodErrors } from './errors.ts';
import { podPaths } from './pod-paths.ts';

const busAddress = `unix:path=${podPaths.host}/run/dbus/system_bus_socket`;

const manager = {
  destination: 'org.freedesktop.systemd1',
  path: '/org/freedesktop/systemd1',
  interface: 'org.freedesktop.systemd1.Manager',
} as const;

export interface TransientUnit {
  readonly name: string;
  readonly description: string;
  readonly command: readonly [string, ...string[]];
  /** Its mounts are its own: the host's files are read-only for it, and /tmp is memory. */
  readonly isReadOnly: boolean;
  readonly deadlineMs: number;
}

export interface HostUnits extends AsyncDisposable {
  /** Resolves when the command has ended well; throws IPBPOD_UNIT_FAILED otherwise. An abort stops it. */
  run(unit: TransientUnit, signal: AbortSignal): Promise<void>;
  /** Starts a unit of the host, or lets it run, and does not wait for it. */
  start(name: string): Promise<void>;
  /** As `systemctl is-active` says it; `inactive` for a unit that does not exist. */
  activeState(name: string): Promise<string>;
}

export async function connectHostUnits(host: Host): Promise<HostUnits> {
  const bus = await host.bus.connect({ address: busAddress });
  return {
    run: (unit, signal) => runUnit(host, bus, { unit, signal }),
    start: async (name) => {
      await bus.call({ ...manager, member: 'StartUnit', signature: 'ss', body: [name, 'replace'] });
    },
    activeState: (name) => activeState(bus, name),
    [Symbol.asyncDispose]: () => bus[Symbol.asyncDispose](),
  };
}

interface UnitRun {
  readonly unit: TransientUnit;
  readonly signal: AbortSignal;
}

/** A little longer than systemd gives the unit, so that systemd's own word about it arrives. */
const graceMs = 10_000;

async function runUnit(host: Host, bus: BusConnection, { unit, signal }: UnitRun): Promise<void> {
  const ended = new Map<string, string>();
  const rung = new Doorbell();
  using _jobs = await bus.listen(
    { sender: manager.destination, path: manager.path, interface: manager.interface, member: 'JobRemoved' },
    {
      received: ([, job, , result]) => {
        ended.set(String(job), String(result));
        rung.ring();
      },
      lost: (reason) => {
        ended.set('', reason);
        rung.ring();
      },
    },
  );
  const job = await startTransient(bus, unit);
  const endMs = host.clock.monotonicMs() + unit.deadlineMs + graceMs;
  try {
    for (;;) {
      const { rings } = rung;
      const result = ended.get(job) ?? ended.get('');
      if (result === 'done') return;
      const leftMs = endMs - host.clock.monotonicMs();
      if (result !== undefined || leftMs <= 0) {
        throw inPlacePodErrors.UNIT_FAILED({ unit: unit.name, result: result ?? 'no answer' });
      }
      await pause(host.clock, { ms: leftMs, signal, wake: (over) => rung.rung(rings, over) });
    }
  } finally {
    if (!ended.has(job)) await stopUnit(bus, unit.name);
  }
}

/** The path of the job. A unit of this name that an earlier pod has left behind is stopped first. */
async function startTransient(bus: BusConnection, unit: TransientUnit): Promise<string> {
  const body = [unit.name, 'replace', propertiesOf(unit), []];
  const start = () => bus.call({ ...manager, member: 'StartTransientUnit', signature: 'ssa(sv)a(sa(sv))', body });
  try {
    return String((await start())[0]);
  } catch (error) {
    if (!isError(error, hostErrors.BUS) || !error.details.errorName.endsWith('.UnitExists')) throw error;
    await stopUnit(bus, unit.name);
    return String((await start())[0]);
  }
}

async function stopUnit(bus: BusConnection, name: string): Promise<void> {
  // It may have ended meanwhile.
  for (const member of ['StopUnit', 'ResetFailedUnit'] as const) {
    const args =
      member === 'StopUnit' ? { signature: 'ss', body: [name, 'replace'] } : { signature: 's', body: [name] };
    await bus.call({ ...manager, member, ...args }).catch(() => undefined);
  }
}

/** The values of systemd.exec(5) and systemd.service(5), each with its D-Bus type. */
function propertiesOf({ description, command, isReadOnly, deadlineMs }: TransientUnit): readonly unknown[] {
  const [program] = command;
  const protections = [
    ['ProtectSystem', ['s', 'strict']],
    ['ProtectHome', ['s', 'read-only']],
    ['TemporaryFileSystem', ['a(ss)', [['/tmp', 'mode=1777']]]],
  ];
  return [
    ['Description', ['s', description]],
    ['Type', ['s', 'oneshot']],
    ['ExecStart', ['a(sasb)', [[program, [...command], false]]]],
    ['TimeoutStartUSec', ['t', BigInt(deadlineMs) * 1000n]],
    // Without it a failed unit would keep its name.
    ['CollectMode', ['s', 'inactive-or-failed']],
    ...(isReadOnly ? protections : []),
  ];
}

async function activeState(bus: BusConnection, name: string): Promise<string> {
  try {
    const [path] = await bus.call({ ...manager, member: 'GetUnit', signature: 's', body: [name] });
    const [state] = await bus.call({
      destination: manager.destination,
      path: String(path),
      interface: 'org.freedesktop.DBus.Properties',
      member: 'Get',
      signature: 'ss',
      body: ['org.freedesktop.systemd1.Unit', 'ActiveState'],
    });
    return variantText(state);
  } catch (error) {
    if (isError(error, hostErrors.BUS) && error.details.errorName.endsWith('.NoSuchUnit')) return 'inactive';
    throw error;
  }
}

/** dbus-native gives a variant as its signature and its values. */
function variantText(value: unknown): string {
  return Array.isArray(value) ? variantText(value.at(-1)) : String(value);
}
