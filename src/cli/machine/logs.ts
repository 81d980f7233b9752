// `firstlight machine logs`
import { ableTo } from '../../platform/platform.ts';
import { argument, flag, optionWithDefault, positiveInteger, repeatableOption, text } from '../frame/option.ts';
import { defineVerb } from '../frame/verb.ts';
import { clusterOption } from './options.ts';

export const machineLogsVerb = defineVerb({
  description:
    'On a terminal, control characters in the lines are shown as escapes: whoever writes into a log does not draw on your screen. On a pipe the lines are as they were written; with -o json every entry is an object.',
  args: { machine: argument('name of the machine') },
  options: {
    unit: repeatableOption('-u, --unit <unit>', 'only this unit', text),
    follow: flag('-f, --follow', 'go on until interrupted'),
    lines: optionWithDefault('-n, --lines <count>', 'how many lines from the end', positiveInteger, 1000),
    console: flag('--console', 'what the machine’s supervisor and nspawn said, instead of the journal'),
    cluster: clusterOption,
  },
  examples: ['firstlight machine logs a', 'firstlight machine logs a -u firstlight-firstboot'],
  run: async (invocation) => {
    const { host, terminal, global, signal, options } = invocation;
    const { chosenCluster } = await import('./chosen-machines.ts');
    const { platform, cluster } = await chosenCluster(invocation);
    const isText = global.output === 'text';
    const [program, ...args] = await ableTo(platform, 'logCommand')(
      { cluster, machine: invocation.args.machine },
      {
        source: options.console ? 'console' : 'journal',
        units: options.unit,
        lines: options.lines,
        isFollowing: options.follow,
        format: isText ? 'short-precise' : 'json',
      },
    );
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
    const data = options.console ? lines : lines.map((line) => JSON.parse(line) as unknown);
    return { data, text: stdout };
  },
});
