// A machine with an attempt on it, for the tests of this folder: the fake machine of the daemon, with units that run,
// a reboot, the daemon as a child, a config server and a progress API with a controller that lets everything pass.
import { appliedConfigText } from '../../config-daemon/applied-config.ts';
import { completeFirstBoot } from '../../config-daemon/complete-first-boot.ts';
import { fakeMachine } from '../../config-daemon/fake-machine.ts';
import {
  type AttemptSettings,
  attemptFiles,
  type InPlacePhase,
  inPlaceFiles,
  type ProgressCommand,
  type ProgressEvent,
} from '../../contract/in-place.ts';
import { daemonFiles } from '../../contract/machine-config-node.ts';
import { bootIdFile, bootstrapKubeconfig, unitFolder } from '../../contract/machine-paths.ts';
import { unitNames } from '../../contract/unit-names.ts';
import { Crash, type FakeDisk } from '../../host/fake/fake-files.ts';
import type { FakeHost } from '../../host/fake/fake-host.ts';
import type { HttpAnswer, HttpRequest } from '../../host/network.ts';
import type { RunResult } from '../../host/processes.ts';
import { inlineFile } from '../../ignition/inline-contents.ts';
import { configSpec } from '../../machine-config/machine-config.ts';
import { attemptUnits } from './attempt-units.ts';

export const attemptId = '5f0c9c9e-8a53-4f0c-9d3c-0a4f3c1f8f62';
const ignition = { version: '3.4.0' } as const;
const ignitionUrl = 'https://api-int.test/config/worker';

const install = '[Install]\nWantedBy=multi-user.target\n';
export const newConfig = {
  name: 'rendered-worker-new',
  spec: configSpec({
    ignition,
    storage: {
      files: [inlineFile({ path: '/etc/example', content: 'new', mode: 0o600 })],
    },
    systemd: {
      units: [
        { name: unitNames.agent, enabled: true, contents: `[Service]\nExecStart=new\n${install}` },
        { name: unitNames.kubelet, contents: `[Service]\nExecStart=new\n${install}` },
      ],
    },
  }),
};

const payload = JSON.stringify({
  ...newConfig.spec.config,
  storage: {
    files: [
      ...(newConfig.spec.config.storage?.files ?? []),
      inlineFile({ path: bootstrapKubeconfig, content: 'kubeconfig with a token', mode: 0o600 }),
      inlineFile({ path: daemonFiles.nodeAnnotations, content: '{}', mode: 0o644 }),
      inlineFile({
        path: daemonFiles.servedMachineConfig,
        content: appliedConfigText(newConfig),
        mode: 0o600,
        gzip: true,
      }),
      inlineFile({ path: daemonFiles.encapsulated, content: 'of the first boot', mode: 0o600 }),
    ],
  },
});

export const settings: AttemptSettings = {
  attemptId,
  node: 'worker-0',
  isAdoption: false,
  facts: { clusterId: 'c', serviceUrl: 'https://api-int.test', serviceCa: '' },
  grant: {
    attemptId,
    secret: { os: 'rhcos', 'ignition-url': ignitionUrl, 'ignition-token': 'flp_x' },
    token: 't',
    ackSeq: 4,
  },
  lastSeq: 4,
  programDigests: {},
};

/** What is outside of the machine, and what of it outlives a crash of its programs. */
export interface AttemptWorld {
  readonly events: ProgressEvent[];
  readonly active: Set<string>;
  /** What the daemon made of its runs. */
  readonly completions: string[];
  boot: number;
  /** What the controller says to a report of this phase, and where it sees the attempt. */
  readonly answer: (phase: InPlacePhase) => { readonly command: ProgressCommand; readonly phase: InPlacePhase };
  /** Answers of the config server other than 200, the first one first. */
  readonly refusals: number[];
  /** The daemon cannot apply what it is given. */
  isBroken: boolean;
}

export function attemptWorld(changes: Partial<AttemptWorld> = {}): AttemptWorld {
  return {
    events: [],
    active: new Set([unitNames.agent, unitNames.kubelet]),
    completions: [],
    boot: 1,
    answer: (phase) => ({
      command: phase === 'KubeletStopped' || phase === 'LabelCleared' ? 'cleared' : 'none',
      phase: phase === 'Joining' ? 'Succeeded' : phase,
    }),
    refusals: [],
    isBroken: false,
    ...changes,
  };
}

/** The processes of one start of the machine or of its unit; `signal` ends them when the machine reboots. */
export interface AttemptMachine {
  readonly host: FakeHost;
  readonly signal: AbortSignal;
}

export async function startMachine(world: AttemptWorld, disk?: FakeDisk): Promise<AttemptMachine> {
  const down = new AbortController();
  const machine = await fakeMachine(disk === undefined ? {} : { disk });
  const bootId = Buffer.from(`boot-${world.boot}\n`);
  machine.disk.nodes.set(bootIdFile, { kind: 'file', content: bootId, mode: 0o444, at: new Date(0) });
  const host: FakeHost = {
    ...machine,
    processes: {
      ...machine.processes,
      run: async (program, args, options) => {
        if (program.endsWith('/firstlight')) return runDaemon(world, { host, down });
        if (program === 'systemctl') return systemctl(world, args, { down, machine });
        if (program === 'journalctl') return ended('waits for its certificate request to be approved\n');
        // The timer is over when the test looks.
        if (program === 'systemd-run') return host.files.remove(args.at(-1) ?? '').then(() => ended(''));
        return machine.processes.run(program, args, options);
      },
    },
    network: { ...machine.network, request: async (request) => serve(world, request) },
  };
  if (disk === undefined) await stage(host);
  return { host, signal: down.signal };
}

async function stage(host: FakeHost): Promise<void> {
  const { files } = host;
  for (const name of [unitNames.agent, unitNames.kubelet]) {
    await files.write(`${unitFolder}/${name}`, `[Service]\nExecStart=old\n${install}`);
    await host.processes.run('systemctl', ['enable', name]);
  }
  await files.makeFolder(attemptFiles(attemptId).folder);
  await files.write(attemptFiles(attemptId).settings, JSON.stringify(settings), { mode: 0o600 });
  for (const { path, text } of Object.values(attemptUnits(attemptId))) await files.write(path, text);
  await host.processes.run('systemctl', ['enable', attemptUnits(attemptId).run.name]);
  await files.makeFolder('/run');
  await files.makeFolder(inPlaceFiles.folder);
}

const ended = (stdout: string, code = 0): RunResult => {
  return { code, stdout, stderr: '', signal: undefined, timedOut: false };
};

async function systemctl(
  world: AttemptWorld,
  args: readonly string[],
  { down, machine }: { readonly down: AbortController; readonly machine: FakeHost },
): Promise<RunResult> {
  const [verb = '', ...names] = args.filter((arg) => !arg.startsWith('--'));
  switch (verb) {
    case 'reboot':
      world.boot += 1;
      world.active.clear();
      down.abort(new Error('the machine goes down'));
      return ended('');
    case 'stop':
      for (const name of names) world.active.delete(name);
      return ended('');
    case 'start':
      for (const name of names) world.active.add(name);
      return ended('');
    case 'is-active':
      return ended(names.map((name) => `${world.active.has(name) ? 'active' : 'inactive'}\n`).join(''));
    default:
      return machine.processes.run('systemctl', args);
  }
}

async function runDaemon(
  world: AttemptWorld,
  { host, down }: { readonly host: FakeHost; readonly down: AbortController },
): Promise<RunResult> {
  if (world.isBroken) return { ...ended('', 3), stderr: 'it does not fit' };
  const { status } = await completeFirstBoot(host).catch((error: unknown) => {
    throw isCrash(error) ? new Crash('the daemon') : error;
  });
  world.completions.push(status);
  if (status === 'complete') return ended('');
  await host.processes.run('systemctl', ['--no-block', 'reboot']);
  throw down.signal.reason;
}

async function serve(world: AttemptWorld, { url, body }: HttpRequest): Promise<HttpAnswer> {
  const answer = (status: number, text: string): HttpAnswer => ({ status, headers: {}, body: Buffer.from(text) });
  if (url === ignitionUrl) {
    const refusal = world.refusals.shift();
    return refusal === undefined ? answer(200, payload) : answer(refusal, '');
  }
  const event = JSON.parse(String(body)) as ProgressEvent;
  const last = world.events.at(-1)?.seq ?? settings.lastSeq;
  if (event.seq > last + 1) return answer(409, JSON.stringify({ ackSeq: last }));
  if (event.seq === last + 1) world.events.push(event);
  const newest = world.events.at(-1)?.phase ?? 'Ready';
  return answer(202, JSON.stringify({ ackSeq: Math.max(last, event.seq), ...world.answer(newest) }));
}

/** True for the end of a killed process, and for that of a machine that goes down. */
export function isCrash(error: unknown): boolean {
  if (error instanceof SuppressedError) return isCrash(error.error) || isCrash(error.suppressed);
  if (!(error instanceof Error)) return false;
  return error instanceof Crash || error.message === 'the machine goes down' || isCrash(error.cause);
}
