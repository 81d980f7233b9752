// `firstlight machine create`
import { isAbsolute, join } from 'node:path';
import { z } from 'zod';
import type { Host } from '../../host/host.ts';
import { stateFolder } from '../../platform/local/cluster-folder.ts';
import { createMachines, listMachines } from '../../platform/local/local-platform.ts';
import { prepareHost } from '../../platform/local/prepare-host.ts';
import { machineRoles } from '../../contract/machine-role.ts';
import type { CommandBody } from '../frame/verb.ts';
import { cliErrors } from '../frame/errors.ts';
import { chosenCluster, chosenPatienceMs } from './machine-choice.ts';
import { chosenImage } from './machine-image.ts';
import { machineTable } from './machine-table.ts';
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
  await prepareHost(host, { ...invocation, stateFolder, needs: { machines: names.length } });
  const name = await chosenCluster(invocation);
  const ignition = await host.files.read(fromHere(host, options.ignition));
  await createMachines(invocation, {
    cluster: {
      name,
      ...(options.network === undefined ? {} : { machineNetwork: options.network }),
      ...(options.domain === undefined ? {} : { domain: options.domain }),
    },
    machines: [...new Set(names)].map((machine) => ({ name: machine, role: options.role, ignition })),
    image: await chosenImage(invocation),
  });
  const deadlineMs = chosenPatienceMs(invocation);
  if (deadlineMs !== undefined) await waitAndTell(invocation, { cluster: name, names, deadlineMs });
  const machines = (await listMachines(host, name)).filter((machine) => names.includes(machine.name));
  return machineTable(machines.map((machine) => ({ ...machine, cluster: name })));
};

function fromHere(host: Host, path: string): string {
  return isAbsolute(path) ? path : join(host.environment.workingFolder, path);
}
