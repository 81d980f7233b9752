// `firstlight machine create`
import { isAbsolute, join } from 'node:path';
import { z } from 'zod';
import type { Host } from '../../host/host.ts';
import { ableTo } from '../../platform/platform.ts';
import { machineRoles } from '../../contract/machine-role.ts';
import type { CommandBody } from '../frame/verb.ts';
import { cliErrors } from '../frame/errors.ts';
import { chosenCluster, chosenPatienceMs } from './machine-choice.ts';
import { chosenImage } from './machine-image.ts';
import { listedMachines } from './machine-table.ts';
import { waitAndTell } from './machine-wait.ts';

const optionsSchema = z.looseObject({
  ignition: z.string().optional(),
  role: z.enum(machineRoles),
  network: z.string().optional(),
  domain: z.string().optional(),
});

export const machineCreate: CommandBody = async (invocation) => {
  const { host, args: names } = invocation;
  const options = optionsSchema.parse(invocation.options);
  if (options.ignition === undefined) {
    throw cliErrors.USAGE({ command: 'firstlight machine create', reason: '--ignition FILE is missing' });
  }
  // An unfit host is named before anything else that may be missing.
  const chosen = await chosenCluster(invocation);
  await ableTo(chosen.platform, 'prepareHost')(invocation, names.length);
  const ignition = await host.files.read(fromHere(host, options.ignition));
  await ableTo(chosen.platform, 'createMachines')(invocation, {
    cluster: {
      name: chosen.cluster,
      ...(options.network === undefined ? {} : { machineNetwork: options.network }),
      ...(options.domain === undefined ? {} : { domain: options.domain }),
    },
    machines: [...new Set(names)].map((machine) => ({ name: machine, role: options.role, ignition })),
    image: await chosenImage(invocation),
  });
  const deadlineMs = chosenPatienceMs(invocation);
  if (deadlineMs !== undefined) await waitAndTell(invocation, { ...chosen, names, deadlineMs });
  return listedMachines(chosen, names);
};

function fromHere(host: Host, path: string): string {
  return isAbsolute(path) ? path : join(host.environment.workingFolder, path);
}
