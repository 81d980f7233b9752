// Which image machines are made from: the release's, or the one that --image describes.
import { isAbsolute, join } from 'node:path';
import { z } from 'zod';
import type { MachineImage } from '../platform/machine-image.ts';
import type { Invocation } from './command.ts';

const imageSchema = z.strictObject({
  rootFolder: z.string(),
  containerdSeed: z.string().exactOptional(),
  seedDatabases: z.array(z.string()).exactOptional(),
  coredns: z.string(),
  digest: z.string(),
});

const imageVariable = 'FIRSTLIGHT_MACHINE_IMAGE';

export async function chosenImage({ host, options }: Invocation): Promise<MachineImage> {
  const { image } = z.looseObject({ image: z.string().optional() }).parse(options);
  const { variables, workingFolder } = host.environment;
  const given = image ?? variables[imageVariable];
  if (given === undefined) return (await import('../release/machine-image.ts')).machineImage(host);
  const path = isAbsolute(given) ? given : join(workingFolder, given);
  return imageSchema.parse(JSON.parse(await host.files.readText(path)));
}
