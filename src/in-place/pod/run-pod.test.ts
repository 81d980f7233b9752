import { describe, expect, test } from 'vitest';
import { inPlaceUnits, type PreflightResult, type ProgressEvent } from '../../contract/in-place.ts';
import type { Bus, SignalListener } from '../../host/bus.ts';
import { type FakeHost, fakeHost } from '../../host/fake/fake-host.ts';
import type { HttpAnswer, HttpRequest } from '../../host/network.ts';
import { sampleAttemptId, sampleSecret, sampleSettings } from '../preflight/sample-attempt.ts';
import { podPaths } from './pod-paths.ts';
import { runPod } from './run-pod.ts';

const give = (status: number, body: object): HttpAnswer => ({
  status,
  headers: {},
  body: Buffer.from(JSON.stringify(body)),
});

/** The progress API of a controller that drains the node for two questions, and a systemd that does what it is told. */
class World {
  readonly stop = new AbortController();
  readonly events = new Map<number, ProgressEvent>();
  /** What was started on the host, in order. */
  readonly started: string[] = [];
  readonly commands: (readonly string[])[] = [];
  readonly host: FakeHost;
  #questions = 0;
  readonly #results: readonly PreflightResult[];

  constructor(results: readonly PreflightResult[]) {
    this.#results = results;
    const request = (asked: HttpRequest): Promise<HttpAnswer> => this.#answer(asked);
    this.host = fakeHost({ network: { request }, bus: this.#bus(), environment: { pid: 7 } });
  }

  async #answer({ url, body = '', headers = {} }: HttpRequest): Promise<HttpAnswer> {
    if (url.endsWith('/reporter')) {
      if (headers['authorization'] !== 'Bearer pod-token') return give(401, {});
      return give(200, { attemptId: sampleAttemptId, secret: sampleSecret, token: 'reporter', ackSeq: 0 });
    }
    const event = JSON.parse(Buffer.from(body).toString('utf8')) as ProgressEvent;
    this.#questions += this.events.has(event.seq) && event.phase === 'Ready' ? 1 : 0;
    this.events.set(event.seq, event);
    if (event.phase === 'PreflightFailed') this.stop.abort(new Error('the test is over'));
    return give(202, { ackSeq: event.seq, command: this.#questions < 2 ? 'pause' : 'none', phase: event.phase });
  }

  #bus(): Bus {
    let listener: SignalListener | undefined;
    return {
      connect: async () => ({
        call: async ({ member, body = [] }) => {
          const name = String(body[0]);
          if (member === 'GetUnit') return ['/unit'];
          if (member === 'Get')
            return [['s', this.started.includes(inPlaceUnits.run(sampleAttemptId)) ? 'active' : 'failed']];
          this.started.push(name);
          if (member === 'StartUnit') this.stop.abort(new Error('the test is over'));
          if (member !== 'StartTransientUnit') return [];
          const properties = body[2] as readonly (readonly [string, readonly [string, unknown]])[];
          for (const [property, [, value]] of properties) {
            if (property === 'ExecStart') this.commands.push((value as [[string, string[], boolean]])[0][1]);
          }
          if (name === 'ipb-preflight.service') await this.#check();
          queueMicrotask(() => listener?.received([1, '/job', name, 'done']));
          return ['/job'];
        },
        listen: async (_source, heard) => {
          listener = heard;
          return { [Symbol.dispose]: () => undefined };
        },
        [Symbol.asyncDispose]: async () => {},
      }),
    };
  }

  async #check(): Promise<void> {
    const round = JSON.stringify({ isLast: true, results: this.#results });
    await this.host.files.write(`${podPaths.work}/preflight.json`, round);
  }

  async run(): Promise<void> {
    const files = { [podPaths.facts]: JSON.stringify(sampleSettings.facts), [podPaths.token]: 'pod-token\n' };
    for (const [path, text] of Object.entries(files)) {
      await this.host.files.makeFolder(path.slice(0, path.lastIndexOf('/')));
      await this.host.files.write(path, text);
    }
    await this.host.files.makeFolder(podPaths.work);
    const { signal } = this.stop;
    const options = { node: 'worker-0', image: 'image@sha256:00', version: '1', signal, log: () => {} };
    await runPod(this.host, options).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }

  phases(): readonly string[] {
    return [...this.events.values()].map(({ phase, step, status }) => `${phase} ${step} ${status}`);
  }
}

const passed: PreflightResult = { id: 'P01', outcome: 'ok', message: 'IPB-P01 fine' };
const failed: PreflightResult = { id: 'P10', outcome: 'failed', message: 'IPB-P10 registry r.test -> 404' };

describe('the pod of an attempt', () => {
  test('checks, reports, waits for the drain, and starts the unit on the host', async () => {
    const world = new World([passed]);
    await world.run();
    expect(world.phases()).toEqual(['Preflight preflight started', 'Preflight P01 ok', 'Ready preflight ok']);
    expect(world.started).toEqual(['ipb-preflight.service', 'ipb-stage.service', inPlaceUnits.run(sampleAttemptId)]);
  });

  test('runs its own program on the host, with the loader and the libraries of its image', async () => {
    const world = new World([passed]);
    await world.run();
    const [check = [], stage = []] = world.commands;
    expect(check[0]).toBe('/proc/7/root/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2');
    expect(check).toContain('--preserve-symlinks-main');
    const words =
      'ipb preflight --settings /proc/7/root/run/ipb/settings.json --result /proc/7/root/run/ipb/preflight.json';
    expect(check.slice(-6).join(' ')).toBe(words);
    expect(stage.slice(-2)).toEqual(['--program', '/proc/7/root']);
  });

  test('puts nothing on the host when a check failed, and reports every one', async () => {
    const world = new World([passed, failed]);
    await world.run();
    expect(world.started).toEqual(['ipb-preflight.service']);
    expect(world.phases()).toEqual([
      'Preflight preflight started',
      'Preflight P01 ok',
      'Preflight P10 failed',
      'PreflightFailed preflight failed',
    ]);
    expect([...world.events.values()].at(-1)).toMatchObject({ code: 'P10', message: failed.message });
  });
});
