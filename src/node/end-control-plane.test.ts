import { describe, expect, test } from 'vitest';
import { type LedMember, ledEtcd } from '../../test/led-etcd.ts';
import { fakeHost } from '../host/fake/fake-host.ts';
import type { RunOptions, RunResult } from '../host/processes.ts';
import { controlPlaneStopSeconds, controlPlaneUnit } from '../machine-software/node-units.ts';
import { endControlPlane } from './end-control-plane.ts';

const everything = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'];

interface FakeMaster {
  /** Components whose containers run. Default: all. */
  readonly running?: readonly string[];
  /** What crictl does instead of its work: `hangs`, or what it says when it fails. */
  readonly trouble?: (words: string) => string | undefined;
  readonly members?: readonly LedMember[];
  readonly signal?: AbortSignal;
  /** Instead of the connections to etcd. */
  readonly withoutEtcd?: boolean;
}

async function end(master: FakeMaster = {}) {
  const events: string[] = [];
  const logged: string[] = [];
  const crictl = async (program: string, args: readonly string[], options?: RunOptions): Promise<RunResult> => {
    const [endpoint, , verb = '', ...rest] = args;
    const words = [verb, ...rest].join(' ');
    expect([program, endpoint]).toEqual([
      '/usr/local/bin/crictl',
      '--runtime-endpoint=unix:///run/containerd/containerd.sock',
    ]);
    const trouble = master.trouble?.(words);
    const result = { code: 0, signal: undefined, stdout: '', stderr: '', timedOut: false };
    if (trouble === 'hangs') {
      await host.clock.sleep(options?.timeoutMs ?? 3_600_000, options?.signal);
      return { ...result, code: undefined, timedOut: true };
    }
    if (trouble !== undefined) return { ...result, code: 1, stderr: `${trouble}\n` };
    if (verb === 'ps') {
      expect(rest).toContain('--label=io.kubernetes.pod.namespace=kube-system');
      const component = /container\.name=(\S+)/.exec(words)?.[1] ?? '';
      const isRunning = (master.running ?? everything).includes(component);
      return { ...result, stdout: isRunning ? `id-of-${component}\n` : '' };
    }
    events.push(words);
    await host.clock.sleep(7_000);
    events.push(`${rest.at(-1) ?? ''} ended`);
    return result;
  };
  const host = fakeHost({ processes: { run: crictl } });
  const members = master.members ?? [{ name: 'master-0' }, { name: 'master-1' }, { name: 'master-2' }];
  const onCall = (call: string) => events.push(call);
  const etcd = ledEtcd({ clock: host.clock, members, leader: 'master-0', onCall });
  const { signal = new AbortController().signal } = master;
  const openEtcd = async () => etcd.clients;
  const given = master.withoutEtcd === true ? {} : { openEtcd };
  await endControlPlane(host, { signal, log: (line) => logged.push(line), ...given });
  return { events, logged, leader: etcd.leader(), tookMs: host.clock.monotonicMs() };
}

const at = (events: readonly string[], event: string): number => {
  expect(events).toContain(event);
  return events.indexOf(event);
};

describe('the control plane of a master that goes down', () => {
  test('ends in order: the API server, the leadership of etcd, etcd', async () => {
    const { events, logged, leader } = await end();
    expect(at(events, 'id-of-kube-apiserver ended')).toBeLessThan(at(events, 'master-0: status'));
    // The last question before etcd is stopped: whether the other member leads.
    expect(events.slice(-4)).toEqual([
      'master-0: move to master-1',
      'master-1: status',
      'stop --timeout=4 id-of-etcd',
      'id-of-etcd ended',
    ]);
    expect(leader).toBe('master-1');
    expect(logged).toContain('kube-apiserver has ended, after 7.0 s');
    expect(logged.slice(-2)).toEqual(['master-1 leads etcd now', 'etcd has ended, after 7.0 s']);
  });

  test('stops controller manager and scheduler beside the API server, not after it', async () => {
    const { events } = await end();
    expect(events.slice(0, 3).toSorted()).toEqual([
      'stop --timeout=15 id-of-kube-apiserver',
      'stop --timeout=15 id-of-kube-controller-manager',
      'stop --timeout=15 id-of-kube-scheduler',
    ]);
  });

  test('does nothing where nothing of it runs', async () => {
    expect(await end({ running: [] })).toMatchObject({ events: [], logged: [], tookMs: 0 });
  });

  test('is only etcd, on a master whose API server does not run yet', async () => {
    const { events, leader } = await end({ running: ['etcd'] });
    expect(events.filter((event) => event.startsWith('stop'))).toEqual(['stop --timeout=4 id-of-etcd']);
    expect(leader).toBe('master-1');
  });

  test('leaves etcd alone where it does not run', async () => {
    const { events, logged } = await end({ running: ['kube-scheduler'] });
    expect(events).toEqual(['stop --timeout=15 id-of-kube-scheduler', 'id-of-kube-scheduler ended']);
    expect(logged).toEqual(['kube-scheduler has ended, after 7.0 s']);
  });

  test('goes on where a container cannot be stopped, and says why', async () => {
    const { events, logged, leader } = await end({
      trouble: (words) => (words.includes('id-of-kube-apiserver') ? 'connection refused' : undefined),
    });
    expect(logged[0]).toBe('kube-apiserver was not stopped: crictl stop failed: connection refused');
    expect([leader, events.at(-1)]).toEqual(['master-1', 'id-of-etcd ended']);
  });

  test('still passes the leadership where containerd does not say what runs', async () => {
    const { events, logged, leader } = await end({ trouble: () => 'no such socket' });
    expect(logged).toContain('etcd cannot be stopped: crictl ps failed: no such socket');
    expect(leader).toBe('master-1');
    expect(events.filter((event) => event.startsWith('stop'))).toEqual([]);
  });

  test('stops etcd also where the leadership cannot be passed', async () => {
    const { events, logged } = await end({ members: [{ name: 'master-0', isSilent: true }] });
    expect(logged).toContainEqual(
      expect.stringMatching(/^the leadership of etcd was not passed on: .*does not answer/),
    );
    expect(events.at(-1)).toBe('id-of-etcd ended');
  });

  test('stops etcd also where this machine has no certificate for it', async () => {
    const { events, logged } = await end({ withoutEtcd: true });
    expect(logged).toContainEqual(
      expect.stringMatching(/^the leadership of etcd was not passed on: .*etcd-membership/),
    );
    expect(events.at(-1)).toBe('id-of-etcd ended');
  });

  test('takes less than its unit may take, also where nothing answers any more', async () => {
    const marginMs = 5_000;
    const members = [{ name: 'master-0', isSilent: true }];
    const { tookMs } = await end({ trouble: (words) => (words.startsWith('stop') ? 'hangs' : undefined), members });
    const silent = await end({ trouble: () => 'hangs', members });
    expect(controlPlaneUnit.service.TimeoutStopSec).toBe(controlPlaneStopSeconds);
    expect(Math.max(tookMs, silent.tookMs)).toBeLessThan(controlPlaneStopSeconds * 1000 - marginMs);
  });

  test('is left as it is when the unit is ended', async () => {
    const reason = new Error('SIGTERM');
    await expect(end({ trouble: () => 'hangs', signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});
