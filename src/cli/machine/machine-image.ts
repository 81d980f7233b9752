// Which image machines are made from: that of the release built last, or the one that --image describes.
import { isAbsolute, join } from 'node:path';
import { z } from 'zod';
import { type MachineImage, machineImageSchema } from '../../contract/machine-image.ts';
import { machineImage } from '../../release/machine-image.ts';
import type { Invocation } from '../frame/verb.ts';

export async function chosenImage({ host, options }: Invocation): Promise<MachineImage> {
  const { image } = z.looseObject({ image: z.string().optional() }).parse(options);
  if (image === undefined) return machineImage(host);
  const path = isAbsolute(image) ? image : join(host.environment.workingFolder, image);
  return machineImageSchema.parse(JSON.parse(await host.files.readText(path)));
}
