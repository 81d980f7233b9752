// `firstlight doctor`: what this host is, what follows from it, and what is in the way.
import { exitCodes } from '../../errors/exit-codes.ts';
import { ableTo, type HostReport } from '../../platform/platform.ts';
import { alignColumns } from '../frame/columns.ts';
import { optionWithDefault, positiveInteger } from '../frame/option.ts';
import { defineVerb } from '../frame/verb.ts';

export const doctorVerb = defineVerb({
  description: 'Nothing is changed. The exit code is 4 when something is in the way.',
  options: {
    machines: optionWithDefault('--machines <count>', 'how many machines it should carry', positiveInteger, 5),
  },
  examples: ['firstlight doctor', 'firstlight doctor -o json'],
  run: async ({ host, options }) => {
    const { chooseMachinePlatform } = await import('../../platform/choose-platform.ts');
    const report = await ableTo(chooseMachinePlatform(host), 'inspectHost')(options.machines);
    return {
      data: report.data,
      text: describe(report),
      exit: report.problems.length === 0 ? exitCodes.ok : exitCodes.infrastructure,
    };
  },
});

function describe({ summary, problems }: HostReport): string {
  const verdict =
    problems.length === 0
      ? 'This host can run machines.\n'
      : problems.map((problem) => `✗ ${problem.what}\n  ${problem.remedy}\n`).join('');
  return `${alignColumns(summary)}\n${verdict}`;
}
