// `firstlight status --waterfall`
import { isAbsolute, join } from 'node:path';
import { z } from 'zod';
import { clusterWaterfall } from '../../waterfall/cluster-waterfall.ts';
import { waterfallText } from '../../waterfall/waterfall-text.ts';
import type { CommandBody } from '../frame/verb.ts';

const optionsSchema = z.looseObject({ svg: z.string().min(1).optional() });

export const statusWaterfall: CommandBody = async ({ host, global, options }) => {
  const { svg } = optionsSchema.parse(options);
  const waterfall = await clusterWaterfall(host, global.dir);
  if (svg === undefined) return { data: waterfall, text: waterfallText(waterfall) };
  const { waterfallSvg } = await import('../../waterfall/waterfall-svg.ts');
  const file = isAbsolute(svg) ? svg : join(host.environment.workingFolder, svg);
  await host.files.write(file, waterfallSvg(waterfall));
  return { data: { ...waterfall, file }, text: `${svg}\n` };
};
