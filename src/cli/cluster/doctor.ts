// `firstlight doctor`: what this host is, what follows from it, and what is in the way.
import { z } from 'zod';
import { exitCodes } from '../../errors/exit-codes.ts';
import { chooseMachinePlatform } from '../../platform/choose-platform.ts';
import { ableTo, type HostReport } from '../../platform/platform.ts';
import type { CommandBody } from '../frame/verb.ts';
import { alignColumns } from '../machine/machine-table.ts';

export const doctor: CommandBody = async ({ host, options }) => {
  const { machines } = z.looseObject({ machines: z.coerce.number().int().positive() }).parse(options);
  const report = await ableTo(chooseMachinePlatform(host), 'inspectHost')(machines);
  return {
    data: report.data,
    text: describe(report),
    exit: report.problems.length === 0 ? exitCodes.ok : exitCodes.infrastructure,
  };
};

function describe({ summary, problems }: HostReport): string {
  const verdict =
    problems.length === 0
      ? 'This host can run machines.\n'
      : problems.map((problem) => `✗ ${problem.what}\n  ${problem.remedy}\n`).join('');
  return `${alignColumns(summary)}\n${verdict}`;
}
