// The machine that an ssh verb is about, and the way into it.
import { platformErrors } from '../../platform/errors.ts';
import type { Machine } from '../../platform/machine.ts';
import type { SshAccess } from '../../platform/ssh-access.ts';
import type { Invocation } from '../frame/verb.ts';
import { chosenCluster } from '../machine/chosen-machines.ts';

type Call = Invocation<unknown, { readonly cluster: string | undefined }>;

export async function runningMachine(call: Call, name: string): Promise<Machine> {
  const { platform, cluster } = await chosenCluster(call);
  const machine = (await platform.listMachines(cluster)).find((one) => one.name === name);
  if (machine === undefined) throw platformErrors.NO_MACHINE({ machine: name, cluster });
  const { machines } = await platform.observeProcesses(cluster);
  if (!machines.has(name)) throw platformErrors.NOT_RUNNING({ machine: name, state: 'not running' });
  return machine;
}

export async function sshAccess(call: Call, machine: Machine): Promise<SshAccess> {
  const { nodePath, programPath } = call.host.environment;
  return { ...(await chosenCluster(call)), machine, program: [nodePath, programPath] };
}
