// A process that is update_engine and systemd on a private bus. It is told on stdin what to be (one JSON object per
// line) and tells on stdout what it was asked (the same). Run with: node bus-owner.ts <bus address>
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import dbus from 'dbus-native';

export interface Status {
  readonly operation: string;
  readonly version?: string;
  readonly progress?: number;
  readonly afterMs?: number;
}

export interface Behaviour {
  readonly engine: 'absent' | 'present';
  /** What GetStatus says before an attempt. */
  readonly status: Status;
  /** Signals after AttemptUpdate; GetStatus follows the latest. `vanish` gives the name up. */
  readonly onAttempt: readonly (Status | 'vanish')[];
  readonly enable: 'accept' | 'refuse';
  readonly startUnit: 'accept' | 'refuse';
  /** How the reboot job ends, if it does. */
  readonly job?: string;
  /** Reported with every StartUnit: whether this file was there at that moment. */
  readonly watch?: string;
}

const engineName = 'com.coreos.update1';
const systemdName = 'org.freedesktop.systemd1';
const bus = dbus.createClient({ busAddress: process.argv[2] ?? '' });
const tell = (event: unknown): void => void process.stdout.write(`${JSON.stringify(event)}\n`);

let behaviour: Behaviour;
let current: Status;
let generation = 0;
let isEngine = false;

const fields = (status: Status): unknown[] => [
  0n,
  status.progress ?? 0,
  `UPDATE_STATUS_${status.operation}`,
  status.version ?? '0.0.0',
  0n,
];

async function become(next: Behaviour): Promise<void> {
  generation += 1;
  behaviour = next;
  current = next.status;
  if ((next.engine === 'present') !== isEngine) {
    await (isEngine ? bus.releaseName(engineName) : bus.requestName(engineName, 0));
    isEngine = !isEngine;
  }
  tell({ ready: true });
}

async function playAttempt(): Promise<void> {
  const mine = generation;
  for (const step of behaviour.onAttempt) {
    await new Promise((resolve) => setTimeout(resolve, step === 'vanish' ? 20 : (step.afterMs ?? 5)));
    if (mine !== generation) return;
    if (step === 'vanish') {
      isEngine = false;
      await bus.releaseName(engineName);
      return;
    }
    current = step;
    bus.sendSignal('/com/coreos/update1', 'com.coreos.update1.Manager', 'StatusUpdate', 'xdssx', fields(step));
  }
}

const refuse = (text: string): never => {
  throw Object.assign(new Error(text), { dbusName: 'org.freedesktop.DBus.Error.AccessDenied' });
};

bus.exportInterface(
  {
    AttemptUpdate: () => {
      tell({ call: 'AttemptUpdate' });
      // As in the real engine, the check has begun when the call returns.
      current = { operation: 'CHECKING_FOR_UPDATE' };
      void playAttempt();
      return null;
    },
    GetStatus: () => {
      tell({ call: 'GetStatus' });
      return fields(current);
    },
  },
  '/com/coreos/update1',
  {
    name: 'com.coreos.update1.Manager',
    methods: { AttemptUpdate: ['', '', [], []], GetStatus: ['', 'xdssx', [], ['a', 'b', 'c', 'd', 'e']] },
    signals: { StatusUpdate: ['xdssx', 'a', 'b', 'c', 'd', 'e'] },
  },
);

bus.exportInterface(
  {
    EnableUnitFiles: (files: string[], runtime: boolean, force: boolean) => {
      tell({ call: 'EnableUnitFiles', args: [files, runtime, force] });
      if (behaviour.enable === 'refuse') refuse('not today');
      return [true, []];
    },
    Reload: () => {
      tell({ call: 'Reload' });
      return null;
    },
    StartUnit: (unit: string, mode: string) => {
      const seen = behaviour.watch === undefined ? {} : { watched: existsSync(behaviour.watch) };
      tell({ call: 'StartUnit', args: [unit, mode], ...seen });
      if (behaviour.startUnit === 'refuse') refuse('no reboots today');
      const job = '/org/freedesktop/systemd1/job/7';
      if (behaviour.job !== undefined) {
        const body = [7, job, unit, behaviour.job];
        setTimeout(
          () => bus.sendSignal('/org/freedesktop/systemd1', `${systemdName}.Manager`, 'JobRemoved', 'uoss', body),
          20,
        );
      }
      return job;
    },
  },
  '/org/freedesktop/systemd1',
  {
    name: `${systemdName}.Manager`,
    methods: {
      EnableUnitFiles: ['asbb', 'ba(sss)', ['files', 'runtime', 'force'], ['carries', 'changes']],
      Reload: ['', '', [], []],
      StartUnit: ['ss', 'o', ['name', 'mode'], ['job']],
    },
    signals: { JobRemoved: ['uoss', 'id', 'job', 'unit', 'result'] },
  },
);

await bus.requestName(systemdName, 0);
createInterface({ input: process.stdin })
  .on('line', (line) => void become(JSON.parse(line) as Behaviour))
  .on('close', () => bus.connection.end());
tell({ ready: true });
