// `firstlight machine create`
import type { MachineImage } from '../../contract/machine-image.ts';
import { machineRoles } from '../../contract/machine-role.ts';
import type { Host } from '../../host/host.ts';
import { ableTo } from '../../platform/platform.ts';
import { cliErrors } from '../frame/errors.ts';
import { argumentList, choiceOf, option, optionWithDefault, text } from '../frame/option.ts';
import { typedPath } from '../frame/paths.ts';
import { defineVerb } from '../frame/verb.ts';
import { bootOptions, clusterOption } from './options.ts';

export const machineCreateVerb = defineVerb({
  description:
    'A machine is a Debian with its own systemd, network namespace and files; the real Ignition configures it on its first boot. Running the command again completes what is missing and leaves the rest alone. The first machine of a cluster makes its network, load balancer and name server.',
  args: { names: argumentList('names of machines, known in the cluster’s DNS') },
  options: {
    ignition: option('--ignition <file>', 'the Ignition config of these machines', text),
    role: optionWithDefault(
      '--role <role>',
      'masters and the bootstrap machine are behind the load balancer',
      choiceOf(machineRoles),
      'worker',
    ),
    network: option('--network <cidr>', 'machine network of a new cluster (default 10.99.0.0/24)', text),
    domain: option('--domain <name>', 'domain of a new cluster (default CLUSTER.firstlight.test)', text),
    image: option('--image <file>', 'JSON that describes a machine image, instead of the release’s', text),
    cluster: clusterOption,
    ...bootOptions,
  },
  examples: [
    'firstlight machine create --ignition x.ign a b c d',
    'firstlight machine create --ignition cluster/master.ign --role master --no-wait master-0 master-1 master-2',
  ],
  run: async (invocation) => {
    const { host, args, options } = invocation;
    if (options.ignition === undefined) {
      throw cliErrors.USAGE({ command: 'firstlight machine create', reason: '--ignition FILE is missing' });
    }
    const { chosenCluster, tableAfterBoot } = await import('./chosen-machines.ts');
    // That this host is unfit is reported before anything else that may be missing.
    const chosen = await chosenCluster(invocation);
    await ableTo(chosen.platform, 'prepareHost')(invocation, args.names.length);
    const ignition = await host.files.read(typedPath(host, options.ignition));
    await ableTo(chosen.platform, 'createMachines')(invocation, {
      cluster: {
        name: chosen.cluster,
        ...(options.network === undefined ? {} : { machineNetwork: options.network }),
        ...(options.domain === undefined ? {} : { domain: options.domain }),
      },
      machines: [...new Set(args.names)].map((name) => ({ name, role: options.role, ignition })),
      image: await chosenImage(host, options.image),
    });
    return tableAfterBoot(invocation, chosen, args.names);
  },
});

/** The image of the release that was built last, or the one that the file describes. */
async function chosenImage(host: Host, path: string | undefined): Promise<MachineImage> {
  if (path === undefined) return (await import('../../release/machine-image.ts')).machineImage(host);
  const { machineImageSchema } = await import('../../contract/machine-image.ts');
  return machineImageSchema.parse(JSON.parse(await host.files.readText(typedPath(host, path))));
}
