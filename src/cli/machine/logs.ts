// `firstlight machine logs`
import { z } from 'zod';
import { ableTo } from '../../platform/platform.ts';
import type { CommandBody } from '../frame/verb.ts';
import { chosenCluster } from './machine-choice.ts';

const optionsSchema = z.looseObject({
  unit: z.array(z.string()).default([]),
  follow: z.boolean().default(false),
  lines: z.coerce.number().int().positive(),
  console: z.boolean().default(false),
});

export const machineLogs: CommandBody = async (invocation) => {
  const { host, global, signal } = invocation;
  const options = optionsSchema.parse(invocation.options);
  const { platform, cluster } = await chosenCluster(invocation);
  const machine = invocation.args[0] ?? '';
  const isText = global.output === 'text';
  const [program, ...args] = await ableTo(platform, 'logCommand')(
    { cluster, machine },
    {
      source: options.console ? 'console' : 'journal',
      units: options.unit,
      lines: options.lines,
      isFollowing: options.follow,
      format: isText ? 'short-precise' : 'json',
    },
  );
  if (isText) {
    const result = await host.processes.runInteractive(program, args, { signal });
    return { data: null, text: '', exit: result.code ?? 0 };
  }
  const { stdout } = await host.processes.run(program, args, { signal });
  const lines = stdout.split('\n').filter((line) => line !== '');
  const data = options.console ? lines : lines.map((line) => JSON.parse(line) as unknown);
  return { data, text: stdout };
};
