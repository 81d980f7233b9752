// `firstlight machine logs`
import { ableTo, type MachineKey, type Platform } from '../../platform/platform.ts';
import { cliErrors } from '../frame/errors.ts';
import {
  argument,
  flag,
  option,
  optionWithDefault,
  positiveInteger,
  repeatableOption,
  text,
  type ValueKind,
  type ValuesOf,
} from '../frame/option.ts';
import { type CommandResult, defineVerb, type Invocation } from '../frame/verb.ts';
import { clusterOption } from './options.ts';

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const agoPattern = /^(\d+)([smhd])$/;

/** How long ago, or a time. */
const moment: ValueKind<string> = {
  parse: (word) => (agoPattern.test(word) || !Number.isNaN(Date.parse(word)) ? word : undefined),
  expected: 'how long ago (30s, 10m, 2h, 1d) or a time such as 2026-01-31T12:00:00Z',
};

export function momentOf(word: string, now: Date): Date {
  const [, count, unit = ''] = agoPattern.exec(word) ?? [];
  return count === undefined ? new Date(word) : new Date(now.getTime() - Number(count) * (unitMs[unit] ?? 0));
}

const options = {
  unit: repeatableOption('-u, --unit <unit>', 'only this unit', text),
  container: option('-c, --container <name>', 'the log of this container: NAME, POD/NAME or NAMESPACE/POD/NAME', text),
  previous: flag('-p, --previous', 'of the container before its last start; without --container, of the boot before'),
  since: option('--since <when>', 'nothing older: 30s, 10m, 2h, 1d, or a time', moment),
  follow: flag('-f, --follow', 'go on until interrupted'),
  lines: optionWithDefault('-n, --lines <count>', 'how many lines from the end', positiveInteger, 1000),
  console: flag('--console', 'what the machine’s supervisor and nspawn said, instead of the journal'),
  cluster: clusterOption,
};

type LogsCall = Invocation<{ readonly machine: string }, ValuesOf<typeof options>>;

export const machineLogsVerb = defineVerb({
  description:
    'The journal of a machine, of some of its units, or the log of one of its containers; also of a machine that is stopped. On a terminal, control characters in the lines are shown as escapes: whoever writes into a log does not draw on your screen. On a pipe the lines are as they were written; with -o json every entry is an object.',
  args: { machine: argument('name of the machine') },
  options,
  examples: [
    'firstlight machine logs a',
    'firstlight machine logs a -u firstlight-firstboot',
    'firstlight machine logs bootstrap -u bootkube --follow',
    'firstlight machine logs bootstrap -c etcd-bootstrap --since 10m',
    'firstlight machine logs master-0 -c kube-apiserver --previous',
  ],
  run: async (invocation) => {
    refuseContradictions(invocation);
    const { chosenCluster } = await import('./chosen-machines.ts');
    const { platform, cluster } = await chosenCluster(invocation);
    const key = { cluster, machine: invocation.args.machine };
    const { container } = invocation.options;
    return container === undefined
      ? machineLog(invocation, platform, key)
      : containerLog(invocation, { platform, key, container });
  },
});

function refuseContradictions({ options: { unit, container, console, previous, since } }: LogsCall): void {
  const sources = [unit.length > 0, container !== undefined, console].filter(Boolean).length;
  const wrong =
    sources > 1
      ? 'name units, a container or --console: one of them'
      : console && (previous || since !== undefined)
        ? '--console keeps no times: leave --previous and --since out'
        : undefined;
  if (wrong !== undefined) throw cliErrors.USAGE({ command: 'firstlight machine logs', reason: wrong });
}

async function machineLog(call: LogsCall, platform: Platform, key: MachineKey): Promise<CommandResult> {
  const { host, terminal, global, signal, options: chosen } = call;
  const isText = global.output === 'text';
  const [program, ...args] = await ableTo(platform, 'logCommand')(key, {
    source: chosen.console ? 'console' : 'journal',
    units: chosen.unit,
    lines: chosen.lines,
    isFollowing: chosen.follow,
    isPrevious: chosen.previous,
    format: isText ? 'short-precise' : 'json',
    ...(chosen.since === undefined ? {} : { since: momentOf(chosen.since, host.clock.now()) }),
  });
  if (isText && !terminal.outIsTerminal) {
    const result = await host.processes.runInteractive(program, args, { signal });
    return { data: null, text: '', exit: result.code ?? 0 };
  }
  if (isText) {
    const onLine = (line: string, stream: 'stdout' | 'stderr'): void =>
      (stream === 'stdout' ? terminal.out : terminal.err)(`${line}\n`);
    const result = await host.processes.run(program, args, { signal, onLine, keepBytes: 0 });
    return { data: null, text: '', exit: result.code ?? 0 };
  }
  const { stdout } = await host.processes.run(program, args, { signal });
  const lines = stdout.split('\n').filter((line) => line !== '');
  const data = chosen.console ? lines : lines.map((line) => JSON.parse(line) as unknown);
  return { data, text: stdout };
}

interface ChosenLog {
  readonly platform: Platform;
  readonly key: MachineKey;
  readonly container: string;
}

async function containerLog(call: LogsCall, { platform, key, container }: ChosenLog): Promise<CommandResult> {
  const { host, options: chosen } = call;
  const machines = await platform.listMachines(key.cluster);
  if (!machines.some(({ name }) => name === key.machine)) {
    throw (await import('../../platform/errors.ts')).platformErrors.NO_MACHINE(key);
  }
  const logs = await import('../../platform/container-logs.ts');
  const files = platform.filesOf(key);
  const named = { machine: key.machine, container, isPrevious: chosen.previous };
  const path = logs.chooseContainerLog(await logs.listContainerLogs(files), named);
  const sinceMs = chosen.since === undefined ? 0 : momentOf(chosen.since, host.clock.now()).getTime();
  const content = (await files.readIfPresent(path)) ?? new Uint8Array();
  const lines = logs.readContainerLines(content).filter(({ at }) => at.getTime() >= sinceMs);
  const last = lines.slice(-chosen.lines);
  const isFollowed = chosen.follow && call.global.output === 'text';
  if (!isFollowed) return { data: last, text: last.map((line) => `${line.text}\n`).join(''), isContent: true };
  for (const line of last) call.terminal.outContent(`${line.text}\n`);
  return followContainerLog(call, { platform, key, path, seenBytes: content.length });
}

interface FollowedLog {
  readonly platform: Platform;
  readonly key: MachineKey;
  readonly path: string;
  readonly seenBytes: number;
}

/** From inside: the machine may replace the file at any moment, and nothing of this host may be shown as its log. */
async function followContainerLog(
  { host, terminal, signal }: LogsCall,
  { platform, key, path, seenBytes }: FollowedLog,
): Promise<CommandResult> {
  const { containerLineReader } = await import('../../platform/container-logs.ts');
  const command = ['tail', `--bytes=+${seenBytes + 1}`, '--follow=name', '--retry', path];
  const [program, ...args] = await ableTo(platform, 'commandInside')(key, { command });
  const read = containerLineReader();
  const onLine = (line: string): void => {
    const found = read(line);
    if (found !== undefined) terminal.outContent(`${found.text}\n`);
  };
  const { code } = await host.processes.run(program, args, { signal, onLine, keepBytes: 0 });
  return { data: null, text: '', exit: code ?? 0 };
}
