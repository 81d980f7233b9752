import { describe, expect, test } from 'vitest';
import type { Bus, BusCall, SignalListener } from '../../host/bus.ts';
import { hostErrors } from '../../host/errors.ts';
import { fakeHost } from '../../host/fake/fake-host.ts';
import { connectHostUnits, type TransientUnit } from './host-units.ts';

const unit: TransientUnit = {
  name: 'ipb-preflight.service',
  description: 'checks',
  command: ['/proc/7/root/ld.so', '--library-path', '/proc/7/root/lib'],
  isReadOnly: true,
  deadlineMs: 1_000,
};

/** A systemd that ends every job with a result; undefined: never. */
function systemd(result: string | undefined, refusals: readonly string[] = []) {
  const calls: BusCall[] = [];
  const left = [...refusals];
  let listener: SignalListener | undefined;
  const addresses: string[] = [];
  const bus: Bus = {
    connect: async ({ address }) => {
      addresses.push(address);
      return {
        call: async (call) => {
          calls.push(call);
          if (call.member !== 'StartTransientUnit') return [];
          const errorName = left.shift();
          if (errorName !== undefined) throw hostErrors.BUS({ target: 'systemd', errorName, reason: 'refused' });
          if (result !== undefined) queueMicrotask(() => listener?.received([1, '/job/1', unit.name, result]));
          return ['/job/1'];
        },
        listen: async (_source, heard) => {
          listener = heard;
          return { [Symbol.dispose]: () => undefined };
        },
        [Symbol.asyncDispose]: async () => {},
      };
    },
  };
  return { host: fakeHost({ bus }), calls, addresses };
}

const members = (calls: readonly BusCall[]) => calls.map(({ member }) => member);

describe('units of the host, from inside the pod', () => {
  test('are started by the bus of the host, with files that they cannot change', async () => {
    const { host, calls, addresses } = systemd('done');
    await using units = await connectHostUnits(host);
    await units.run(unit, new AbortController().signal);
    expect(addresses).toEqual(['unix:path=/host/run/dbus/system_bus_socket']);
    const properties = calls[0]?.body?.[2] as readonly (readonly [string, unknown])[];
    const values = Object.fromEntries(properties);
    expect(values['Type']).toEqual(['s', 'oneshot']);
    expect(values['ExecStart']).toEqual(['a(sasb)', [[unit.command[0], [...unit.command], false]]]);
    expect(values['ProtectSystem']).toEqual(['s', 'strict']);
    expect(values['TemporaryFileSystem']).toEqual(['a(ss)', [['/tmp', 'mode=1777']]]);
    expect(members(calls)).toEqual(['StartTransientUnit']);
  });

  test('that fail say how', async () => {
    const { host } = systemd('failed');
    await using units = await connectHostUnits(host);
    await expect(units.run(unit, new AbortController().signal)).rejects.toMatchObject({
      code: 'IPBPOD_UNIT_FAILED',
      message: 'ipb-preflight.service on the host ended as failed',
    });
  });

  test('that an earlier pod has left behind are stopped first', async () => {
    const { host, calls } = systemd('done', ['org.freedesktop.systemd1.UnitExists']);
    await using units = await connectHostUnits(host);
    await units.run(unit, new AbortController().signal);
    expect(members(calls)).toEqual(['StartTransientUnit', 'StopUnit', 'ResetFailedUnit', 'StartTransientUnit']);
  });

  test('are stopped when the pod is', async () => {
    const { host, calls } = systemd(undefined);
    await using units = await connectHostUnits(host);
    const stop = new AbortController();
    const running = units.run(unit, stop.signal);
    queueMicrotask(() => stop.abort(new Error('SIGTERM')));
    await expect(running).rejects.toThrow('SIGTERM');
    expect(members(calls)).toContain('StopUnit');
  });
});
