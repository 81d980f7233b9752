// The first start of the kubelet, made when its certificate is there. A kubelet that starts earlier is refused and then
// retries more and more rarely: nodes came ten seconds late, and some were not Ready for twenty more. From then on the
// unit is enabled and starts at every boot, because a control plane must start again while no API runs.
import { askForIdentity, hasIdentity, joinObstacle, untilSigned } from '../../admission/kubelet-identity.ts';
import { daemonFiles } from '../../contract/machine-config-node.ts';
import { bootstrapKubeconfig, programs } from '../../contract/machine-paths.ts';
import { type Missing, waitingFor } from '../../contract/missing.ts';
import { connectKubernetes } from '../../kubernetes/client.ts';
import { kubeletUnit } from '../../machine-software/node-units.ts';
import type { Agent } from '../agent-context.ts';
import { acted, type Duty, settled, waiting } from '../duty.ts';
import { runCommand } from '../run-command.ts';
import { letStartAtBoot, startsAtBoot } from '../start-at-boot.ts';

const { name: unit } = kubeletUnit({ mode: 'cluster' });

export const kubeletDuty: Duty = {
  name: 'kubelet',
  roles: ['master', 'worker'],
  needs: [],
  tickMs: 300,
  ignoresRingsWhenSettled: true,
  run: async (agent) => {
    const { host } = agent;
    if (await startsAtBoot(host.files, unit)) return settled();
    // The encapsulated config is there until the first boot is complete; the duty machine-config puts it aside.
    if ((await host.files.facts(daemonFiles.encapsulated)) !== undefined) {
      return waiting(waitingFor('the first boot', 'to be complete'));
    }
    const missing = (await hasIdentity(host)) ? undefined : await identityMissing(agent);
    if (missing !== undefined) return waiting(missing);
    // In this order: if the agent ends in between, the next run does both again.
    await runCommand(host, programs.systemctl, ['start', '--no-block', unit]);
    await letStartAtBoot(host.files, unit);
    return acted(`started ${unit}`);
  },
};

/** Asks with the token of this machine, and has the duty run again when the answer comes. */
async function identityMissing({ host, node, apiServerUrl, background, signal }: Agent): Promise<Missing | undefined> {
  const connect = () => connectKubernetes(host, { path: bootstrapKubeconfig });
  try {
    await using client = await connect();
    const { missing, request } = await askForIdentity(host, client, { nodeName: node.name, signal, deadlineMs: 2_000 });
    if (request !== undefined) {
      background.keep('kubelet', async (end) => {
        await using watching = await connect();
        await untilSigned(host, watching, { request, signal: end });
      });
    }
    return missing;
  } catch (error) {
    const obstacle = joinObstacle(error, apiServerUrl);
    if (obstacle === undefined) throw error;
    return obstacle;
  }
}
