import { posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fakeMachine, picture, restarted } from '../../config-daemon/fake-machine.ts';
import { type AttemptSettings, attemptFiles } from '../../contract/in-place.ts';
import { Crash } from '../../host/fake/fake-files.ts';
import type { FakeHost } from '../../host/fake/fake-host.ts';
import type { Network } from '../../host/network.ts';
import type { RunResult } from '../../host/processes.ts';
import { payloadSteps } from '../payload/payload-steps.ts';
import { sampleAuthority, sampleIds, samplePayload, sampleServer } from '../payload/sample-payload.ts';
import { type PayloadRun, runPayloadStage, type StageEvent } from './route-payload.ts';

const attemptId = 'attempt-1';
const paths = attemptFiles(attemptId);
const settings: AttemptSettings = {
  attemptId,
  node: 'worker-0',
  isAdoption: false,
  facts: { clusterId: sampleIds.clusterId, serviceUrl: `https://${sampleServer}`, serviceCa: sampleAuthority },
  grant: {
    attemptId,
    secret: {
      'bootstrap-url': `https://${sampleServer}/v1/payload`,
      'bootstrap-token': 'secret',
      'bootstrap-ca.crt': sampleAuthority,
      'worker-id': sampleIds.workerId,
      'cluster-id': sampleIds.clusterId,
      region: sampleIds.region,
    },
    token: 'token',
    ackSeq: 0,
  },
  lastSeq: 0,
  programDigests: {},
};

type Step = (host: FakeHost, stage: string, step: string) => Promise<Partial<RunResult>>;

interface Machine {
  readonly host: FakeHost;
  readonly run: PayloadRun;
  readonly ran: string[];
  readonly events: StageEvent[];
}

const archive = await samplePayload();
const serves: Network['request'] = async () => ({ status: 200, headers: {}, body: archive });
const otherBoot = { at: '2026-01-01T00:00:00Z', bootId: 'boot-0' };

interface MachineOptions {
  readonly base?: FakeHost;
  readonly request?: Network['request'];
}

async function machine(step: Step, { base, request = serves }: MachineOptions = {}): Promise<Machine> {
  const plain = base ?? (await fakeMachine());
  const ran: string[] = [];
  const events: StageEvent[] = [];
  const host: FakeHost = {
    ...plain,
    network: { ...plain.network, request },
    processes: {
      ...plain.processes,
      run: async (program, args, options) => {
        if (program !== '/bin/bash') return plain.processes.run(program, args, options);
        const [script = '', stage = '', name = ''] = args;
        expect(script).toBe(`${paths.payload}/bootstrap.sh`);
        ran.push(`${stage}/${name}`);
        return {
          code: 0,
          signal: undefined,
          stdout: '',
          stderr: '',
          timedOut: false,
          ...(await step(plain, stage, name)),
        };
      },
    },
  };
  const run: PayloadRun = {
    settings,
    history: [
      { phase: 'LabelCleared', ...otherBoot },
      { phase: 'Applying', ...otherBoot },
    ],
    report: async (event) => void events.push(event),
    remainingMs: 600_000,
    signal: new AbortController().signal,
  };
  return { host, run, ran, events };
}

/** As the playbooks do it, for the files of a step. */
const places: Step = async ({ files }, _stage, step) => {
  const variables = JSON.parse(await files.readText(`${paths.payload}/ansible/variables.json`)) as {
    readonly ipb_files: Readonly<Record<string, readonly { readonly path: string; readonly source: string }[]>>;
  };
  for (const { path, source } of variables.ipb_files[step] ?? []) {
    await files.makeFolder(posix.dirname(path));
    await files.write(path, await files.read(`${paths.payload}/ansible/${source}`));
  }
  return {};
};

const stepNames = (stage: string): readonly string[] =>
  payloadSteps.filter((step) => step.stage === stage).map(({ name }) => `${stage}/${name}`);

describe('a stage', () => {
  test('runs its steps in their order, reports each, and runs none a second time', async () => {
    const { host, run, ran, events } = await machine(places);
    expect(await runPayloadStage(host, run, 'base')).toMatchObject({ status: 'done' });
    expect(ran).toEqual(stepNames('base'));
    expect(events.map(({ step, status }) => `${step} ${status}`)).toEqual(
      stepNames('base').flatMap((name) => [`${name} started`, `${name} ok`]),
    );
    expect(await runPayloadStage(host, run, 'base')).toMatchObject({ status: 'done' });
    expect(ran).toEqual(stepNames('base'));
    expect(await runPayloadStage(host, run, 'kube')).toMatchObject({ status: 'done' });
    expect(ran).toEqual([...stepNames('base'), ...stepNames('kube')]);
    expect(await host.files.facts(paths.payload)).toMatchObject({ mode: 0o700 });
    expect(await host.files.facts(paths.archive)).toMatchObject({ mode: 0o600 });
  });

  test('with exit code 75 is tried again later, with growing pauses, and then goes on', async () => {
    let left = 3;
    const { host, run, ran, events } = await machine(async () => {
      left -= 1;
      return left >= 0 ? { code: 75, stderr: 'bootstrap.sh: the package repositories do not answer\n' } : {};
    });
    expect(await runPayloadStage(host, run, 'base')).toMatchObject({ status: 'done' });
    expect(ran).toEqual([...Array<string>(3).fill('base/packages'), ...stepNames('base')]);
    const warnings = events.filter(({ status }) => status === 'warning').map(({ message }) => message);
    expect(warnings).toHaveLength(3);
    expect(warnings[0]).toMatch(/^tried again in \d+ s: bootstrap\.sh: the package repositories do not answer$/);
  });

  test('that could only be tried later until its time is over says so, and is undone', async () => {
    const { host, run } = await machine(async () => ({ code: 75, stderr: 'bootstrap.sh: no answer' }));
    expect(await runPayloadStage(host, run, 'base')).toEqual({
      status: 'undone',
      failure: {
        code: 'RepositoriesUnavailable',
        message: 'base/packages could not be done in its time: bootstrap.sh: no answer',
      },
    });
  });

  test('that fails is undone with the stage before it, and only the way back is open from then on', async () => {
    const fails: Step = async (host, stage, step) => {
      if (step === 'units') return { code: 2, stdout: 'fatal: [localhost]: FAILED! => {"msg": "no such unit"}\n' };
      return await places(host, stage, step);
    };
    const { host, run, ran } = await machine(fails);
    await host.files.write('/etc/motd', 'mine\n', { mode: 0o600 });
    const before = withoutState(host);
    await runPayloadStage(host, run, 'base');
    const outcome = await runPayloadStage(host, run, 'kube');
    expect(outcome).toEqual({
      status: 'undone',
      failure: { code: 'StageFailed', message: 'kube/units failed: no such unit' },
    });
    expect(withoutState(host)).toEqual(before);
    const count = ran.length;
    expect(await runPayloadStage(host, run, 'kube')).toEqual(outcome);
    expect(ran).toHaveLength(count);
  });

  test('that does not end in its time is undone', async () => {
    const { host, run } = await machine(async () => ({ code: undefined, timedOut: true }));
    expect(await runPayloadStage(host, run, 'base')).toMatchObject({ failure: { code: 'ApplyTimeout' } });
  });

  test('is not begun with a payload for another worker, or when there is none', async () => {
    const before = withoutState(await fakeMachine());
    const other = await samplePayload({ ids: { ...sampleIds, workerId: 'worker-9' } });
    for (const request of [
      async () => ({ status: 200, headers: {}, body: other }),
      async () => ({ status: 403, headers: {}, body: new Uint8Array() }),
      async () => ({ status: 503, headers: {}, body: new Uint8Array() }),
    ]) {
      const { host, run, ran } = await machine(places, { request });
      expect(await runPayloadStage(host, run, 'base')).toMatchObject({ failure: { code: 'PayloadRefused' } });
      expect(ran).toEqual([]);
      expect(withoutState(host)).toEqual(before);
    }
  });

  test('does not run a payload that was changed on the disk after it was verified', async () => {
    const { host, run, ran } = await machine(places);
    await runPayloadStage(host, run, 'base');
    await host.files.write(`${paths.payload}/bootstrap.sh`, 'evil');
    const count = ran.length;
    expect(await runPayloadStage(host, run, 'kube')).toMatchObject({ failure: { code: 'PayloadRefused' } });
    expect(ran).toHaveLength(count);
  });

  test('B is refused while the label is on the node, and in the boot of stage A', async () => {
    const { host, run } = await machine(places);
    const uncleared = { ...run, history: [{ phase: 'Applying' as const, ...otherBoot }] };
    expect(await runPayloadStage(host, uncleared, 'kube')).toMatchObject({ failure: { code: 'NotCleared' } });
    const second = await machine(places);
    const sameBoot = run.history.map((entry) => ({ ...entry, bootId: 'boot-1' }));
    expect(await runPayloadStage(second.host, { ...run, history: sameBoot }, 'kube')).toMatchObject({
      failure: { code: 'RebootNotHappened' },
    });
  });
});

/** The disk without what belongs to the attempt, and without originals, which are kept for ever. */
function withoutState(host: FakeHost): Readonly<Record<string, string>> {
  const kept = ['/var', '/etc/machine-config-daemon'];
  return Object.fromEntries(
    Object.entries(picture(host)).filter(([path]) => !kept.some((root) => path.startsWith(root))),
  );
}

describe('killed at every change of the disk', () => {
  test('a stage that succeeds ends in the same state, and no step that was done runs twice', async () => {
    const whole = await machine(places);
    await runPayloadStage(whole.host, whole.run, 'kube');
    const wanted = withoutState(whole.host);
    for (let at = 1; ; at += 4) {
      const first = await machine(places);
      first.host.disk.crashAt = first.host.disk.changes + at;
      if (!(await crashes(first))) break;
      const second = await machine(places, { base: await restarted(first.host) });
      expect
        .soft(await runPayloadStage(second.host, second.run, 'kube'), `change ${at}`)
        .toMatchObject({ status: 'done' });
      expect.soft(withoutState(second.host), `change ${at}`).toEqual(wanted);
      const done = first.events.filter(({ status }) => status === 'ok').map(({ step }) => step);
      expect
        .soft(
          second.ran.filter((step) => done.includes(step)),
          `change ${at}`,
        )
        .toEqual([]);
    }
  });

  test('a stage that fails ends undone, wherever it was', async () => {
    const fails: Step = async (host, stage, step) => (step === 'units' ? { code: 2 } : await places(host, stage, step));
    const before = withoutState(await fakeMachine());
    for (let at = 1; ; at += 3) {
      const first = await machine(fails);
      first.host.disk.crashAt = first.host.disk.changes + at;
      if (!(await crashes(first))) break;
      const second = await machine(fails, { base: await restarted(first.host) });
      const { status } = await runPayloadStage(second.host, second.run, 'kube');
      expect.soft(status, `change ${at}`).toBe('undone');
      expect.soft(withoutState(second.host), `change ${at}`).toEqual(before);
    }
  });
});

async function crashes({ host, run }: Machine): Promise<boolean> {
  try {
    await runPayloadStage(host, run, 'kube');
    return false;
  } catch (error) {
    if (!(error instanceof Crash)) throw error;
    return true;
  }
}
