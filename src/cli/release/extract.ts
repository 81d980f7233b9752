// `firstlight release extract`
import { resolve } from 'node:path';
import { z } from 'zod';
import { extractComponent } from '../../release/extract.ts';
import type { CommandBody } from '../frame/verb.ts';
import { cliErrors } from '../frame/errors.ts';

const optionsSchema = z.object({ component: z.string().optional(), to: z.string() });

export const releaseExtract: CommandBody = async ({ host, options }) => {
  const { component, to } = optionsSchema.parse(options);
  const command = 'firstlight release extract';
  if (component === undefined) throw cliErrors.USAGE({ command, reason: 'name what to take with --component' });
  const extracted = await extractComponent(host, component, resolve(host.environment.workingFolder, to));
  return { data: extracted, text: extracted.files.map((file) => `${file}\n`).join('') };
};
