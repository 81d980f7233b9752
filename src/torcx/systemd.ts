// systemd over D-Bus: a runtime unit that clears docker's data during the shutdown, and the reboot itself.

import type { BusConnection } from '../host/bus.ts';
import { Doorbell } from '../workflow/doorbell.ts';
import { pause } from '../workflow/pause.ts';
import type { TorcxContext } from './context.ts';
import { nodePaths, reasonOf } from './context.ts';
import { torcxErrors } from './errors.ts';

const manager = {
  destination: 'org.freedesktop.systemd1',
  path: '/org/freedesktop/systemd1',
  interface: 'org.freedesktop.systemd1.Manager',
} as const;
export const systemBusDefault = 'unix:path=/var/run/dbus/system_bus_socket';

export function systemBusAddress({ host }: TorcxContext): string {
  return host.environment.variables['DBUS_SYSTEM_BUS_ADDRESS'] || systemBusDefault;
}

export interface SystemdBus extends AsyncDisposable {
  enableCleanupUnit(): Promise<void>;
  /**
   * Starts the reboot and waits until this process receives the stop signal that every reboot sends.
   * Throws TORCX_REBOOT_REFUSED if systemd refuses, TORCX_REBOOT_OVERDUE if it accepts and the node stays up.
   */
  reboot(deadlineMs: number): Promise<void>;
}

/** Uses the system bus, or systemd's private socket if there is no bus yet and we are root. */
export async function connectSystemd(context: TorcxContext): Promise<SystemdBus> {
  const bus = await connect(context).catch((error: unknown) => {
    throw torcxErrors.SYSTEMD({ call: 'connection', reason: reasonOf(error) }, { cause: error });
  });
  return {
    enableCleanupUnit: () => enableCleanupUnit(context, bus),
    reboot: (deadlineMs) => reboot(context, bus, deadlineMs),
    [Symbol.asyncDispose]: () => bus[Symbol.asyncDispose](),
  };
}

async function connect(context: TorcxContext): Promise<BusConnection> {
  const { host, at } = context;
  try {
    return await host.bus.connect({ address: systemBusAddress(context) });
  } catch (error) {
    const path = at(nodePaths.systemdPrivateSocket);
    if (host.environment.uid !== 0 || (await host.files.facts(path)) === undefined) throw error;
    return host.bus.connect({ address: `unix:path=${path}`, isDirect: true });
  }
}

const cleanupUnit = `[Unit]
Description=Clear docker's data directory before another docker version uses it
DefaultDependencies=no
Before=docker.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/bin/rm -rf /var/lib/docker

[Install]
RequiredBy=umount.target
`;

/** An older docker cannot use the data of a newer one. The unit is in /run, so it exists for exactly one shutdown. */
async function enableCleanupUnit({ host, at, signal }: TorcxContext, bus: BusConnection): Promise<void> {
  const path = at(nodePaths.cleanupUnit);
  await host.files.makeFolder(path.slice(0, path.lastIndexOf('/')));
  await host.files.write(path, cleanupUnit, { mode: 0o644 });
  const call = async (member: string, signature?: string, body?: readonly unknown[]): Promise<void> => {
    const args = signature === undefined ? {} : { signature, body: body ?? [] };
    await bus.call({ ...manager, member, signal, ...args }).catch((error: unknown) => {
      throw torcxErrors.SYSTEMD({ call: member, reason: reasonOf(error) }, { cause: error });
    });
  };
  await call('EnableUnitFiles', 'asbb', [[nodePaths.cleanupUnit], true, true]);
  await call('Reload');
}

async function reboot({ host, signal }: TorcxContext, bus: BusConnection, deadlineMs: number): Promise<void> {
  const refused = (reason: string, cause?: unknown) => torcxErrors.REBOOT_REFUSED({ reason }, { cause });
  const removed: { job: string; result: string }[] = [];
  const jobRemoved = new Doorbell();
  using _jobs = await bus
    .listen(
      { sender: manager.destination, path: manager.path, interface: manager.interface, member: 'JobRemoved' },
      {
        received: ([, job, , result]) => {
          removed.push({ job: String(job), result: String(result) });
          jobRemoved.ring();
        },
        // The bus stops during the reboot, which is expected.
        lost: () => {},
      },
    )
    .catch((error: unknown) => {
      throw refused(reasonOf(error), error);
    });
  const reply = await bus
    .call({ ...manager, member: 'StartUnit', signature: 'ss', body: ['reboot.target', 'isolate'] })
    .catch((error: unknown) => {
      throw refused(`StartUnit: ${reasonOf(error)}`, error);
    });
  const endMs = host.clock.monotonicMs() + deadlineMs;
  while (!signal.aborted) {
    const { rings } = jobRemoved;
    const end = removed.find(({ job, result }) => job === reply[0] && result !== 'done');
    if (end !== undefined) throw refused(`the job for reboot.target ended as ${end.result}`);
    const leftMs = endMs - host.clock.monotonicMs();
    if (leftMs <= 0) throw torcxErrors.REBOOT_OVERDUE({ seconds: Math.round(deadlineMs / 1000) });
    // An abort ends the loop: the reboot stops this program.
    await pause(host.clock, { ms: leftMs, signal, wake: (over) => jobRemoved.rung(rings, over) }).catch(() => {});
  }
}
