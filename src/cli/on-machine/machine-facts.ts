// `firstlight machine-facts`: what `firstlight diagnose` runs inside a machine.
import { z } from 'zod';
import { lookInside } from '../../diagnose/inside/look-inside.ts';
import type { CommandBody } from '../frame/verb.ts';

const optionsSchema = z.looseObject({
  name: z.array(z.string()).default([]),
  balancer: z.string(),
  port: z.array(z.coerce.number().int()).default([]),
});

export const machineFactsCommand: CommandBody = async ({ host, options }) => {
  const { name: names, balancer, port: ports } = optionsSchema.parse(options);
  const facts = await lookInside(host, { names, balancer, ports });
  return { data: facts, text: `${JSON.stringify(facts, null, 2)}\n` };
};
