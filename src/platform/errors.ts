// What can keep machines from being made, started, reached or removed.
import { exitCodes } from '../errors/exit-codes.ts';
import { errorTable } from '../errors/firstlight-error.ts';
import type { HostProblem } from './platform.ts';

export const platformErrors = errorTable('PLATFORM', {
  HOST_UNFIT: {
    message: (e: { problems: readonly HostProblem[] }) =>
      `this host cannot run machines: ${e.problems.map((problem) => problem.what).join('; ')}`,
    hint: (e: { problems: readonly HostProblem[] }) =>
      `${e.problems.map((problem) => problem.remedy).join(' ')} firstlight doctor shows everything that was looked at.`,
    means: 'Something that machines need is missing on this host. It was noticed before anything was touched.',
    exit: exitCodes.infrastructure,
  },
  UNABLE: {
    message: (e: { platform: string; what: string }) => `firstlight cannot ${e.what} on platform ${e.platform}`,
    hint: 'Use the tools with which these machines were made.',
    means: 'On this platform the machines are not made by firstlight, and some commands need a platform that does.',
    exit: exitCodes.usage,
  },
  PACKAGES: {
    message: (e: { packages: readonly string[]; reason: string }) =>
      `cannot install ${e.packages.join(', ')}: ${e.reason}`,
    hint: (e: { packages: readonly string[] }) => `apt-get install ${e.packages.join(' ')} shows the whole story.`,
    means: 'apt-get refused to install packages that machines need.',
    exit: exitCodes.infrastructure,
  },
  BAD_NETWORK: {
    message: (e: { cidr: string; reason: string }) => `machine network ${e.cidr}: ${e.reason}`,
    hint: 'Give an IPv4 network of at least /27, such as 10.99.0.0/24.',
    means: 'The machine network (networking.machineNetwork or --network) cannot hold machines.',
    exit: exitCodes.badConfig,
  },
  BAD_ADDRESS: {
    message: (e: { machine: string; address: string; reason: string }) =>
      `machine ${e.machine} cannot have address ${e.address}: ${e.reason}`,
    hint: 'Leave the address out to get the next free one.',
    means: 'A requested address is outside of the machine network, reserved or taken.',
    exit: exitCodes.badConfig,
  },
  BAD_NAME: {
    message: (e: { what: string; name: string; reason: string }) =>
      `${e.what} name ${JSON.stringify(e.name)} ${e.reason}`,
    hint: 'Use lower-case letters, digits and inner dashes.',
    means:
      'Clusters and machines are known by name in DNS, in folders and in namespaces, so the name must be a DNS label.',
    exit: exitCodes.usage,
  },
  NETWORK_FULL: {
    message: (e: { cidr: string }) => `machine network ${e.cidr} has no free address`,
    hint: 'Destroy machines that are no longer needed, or make a cluster with a larger network.',
    means: 'Every address of the machine network belongs to a machine.',
    exit: exitCodes.infrastructure,
  },
  CLUSTER_DIFFERS: {
    message: (e: { cluster: string; field: string; is: string; wanted: string }) =>
      `cluster ${e.cluster} exists with ${e.field} ${e.is}, not ${e.wanted}`,
    hint: (e: { cluster: string }) =>
      `Leave the option out, or firstlight machine destroy --all --cluster ${e.cluster} first.`,
    means: 'The network of a cluster is fixed when its first machine is made.',
    exit: exitCodes.usage,
  },
  CLUSTER_BUSY: {
    message: (e: { cluster: string; by: string; seconds: number }) =>
      `cluster ${e.cluster} is being changed by ${e.by}, still after ${e.seconds} s`,
    hint: 'Wait for that command to end, then run this one again.',
    means: 'Two commands never change the same cluster at once; this one waited and gave up.',
    exit: exitCodes.infrastructure,
  },
  MACHINE_DIFFERS: {
    message: (e: { machine: string; field: string }) => `machine ${e.machine} exists with another ${e.field}`,
    hint: (e: { machine: string }) => `firstlight machine destroy ${e.machine}, then run the same command again.`,
    means: 'A machine keeps the Ignition config, image, role and address it was made with.',
    exit: exitCodes.usage,
  },
  NO_MACHINE: {
    message: (e: { machine: string; cluster: string }) => `cluster ${e.cluster} has no machine ${e.machine}`,
    hint: 'firstlight machine list shows what there is.',
    means: 'A command named a machine that does not exist.',
    exit: exitCodes.usage,
  },
  NOT_RUNNING: {
    message: (e: { machine: string; state: string }) => `machine ${e.machine} is ${e.state}`,
    hint: (e: { machine: string }) => `firstlight machine start ${e.machine}`,
    means: 'A command needs to go inside a machine that is not running.',
    exit: exitCodes.infrastructure,
  },
  NO_CONTAINER: {
    message: (e: { machine: string; container: string; known: readonly string[] }) =>
      `${e.machine} has no container ${e.container}; it has ${e.known.length === 0 ? 'no log of any container' : e.known.join(', ')}`,
    hint: (e: { machine: string }) =>
      `Services that are no containers have a unit: firstlight machine logs ${e.machine} --unit UNIT.`,
    means: 'The logs of containers are kept by name, and the machine has none with this one.',
    exit: exitCodes.usage,
  },
  SEVERAL_CONTAINERS: {
    message: (e: { machine: string; container: string; known: readonly string[] }) =>
      `${e.machine} has several containers ${e.container}: ${e.known.join(', ')}`,
    hint: 'Name it with its pod: --container POD/CONTAINER, or NAMESPACE/POD/CONTAINER.',
    means: 'Containers of several pods on the machine have this name.',
    exit: exitCodes.usage,
  },
  NO_EARLIER_LIFE: {
    message: (e: { machine: string; container: string }) => `${e.container} of ${e.machine} was started only once`,
    hint: 'Leave --previous out.',
    means: 'A container that never ended and started again has no log before the one that it writes now.',
    exit: exitCodes.usage,
  },
  FIRST_BOOT_FAILED: {
    message: (e: { machine: string; reason: string }) => `first boot of ${e.machine} failed: ${e.reason}`,
    hint: (e: { machine: string }) =>
      `firstlight machine logs ${e.machine} --unit firstlight-firstboot; destroy the machine, fix its config and create it again.`,
    means:
      'Ignition could not apply the config of a machine. The machine stays up without services, so that it can be examined.',
    exit: exitCodes.infrastructure,
  },
  DIED: {
    message: (e: { machine: string; lastLines: string }) => `machine ${e.machine} did not stay up: ${e.lastLines}`,
    hint: (e: { machine: string }) => `firstlight machine logs ${e.machine} --console shows all that it said.`,
    means: 'The process that runs a machine ended right after it was started.',
    exit: exitCodes.infrastructure,
  },
  COMMAND: {
    message: (e: { command: string; reason: string }) => `${e.command} failed: ${e.reason}`,
    hint: 'Run the same command again: what is half made is repaired. firstlight doctor checks the host.',
    means: 'A system program that sets up namespaces, mounts or processes refused to do its work.',
    exit: exitCodes.infrastructure,
  },
  NO_IMAGE: {
    message: (e: { path: string }) => `no machine image at ${e.path}`,
    hint: 'firstlight release build makes one.',
    means: 'Machines are made from a prepared root folder, and there is none.',
    exit: exitCodes.infrastructure,
  },
});
