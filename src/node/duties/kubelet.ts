// The first start of the kubelet, made when the API knows its token. A kubelet that starts earlier is refused and then
// retries more and more rarely: nodes came ten seconds late, and some were not Ready for twenty more. From then on the
// unit is enabled and starts at every boot, because a control plane must start again while no API runs.
import { daemonFiles } from '../../contract/machine-config-node.ts';
import { bootstrapKubeconfig, kubeletClientCertificate, programs } from '../../contract/machine-paths.ts';
import { waitingFor } from '../../contract/missing.ts';
import { isError } from '../../errors/firstlight-error.ts';
import { connectKubernetes } from '../../kubernetes/client.ts';
import { kubernetesErrors } from '../../kubernetes/errors.ts';
import type { KubernetesObject } from '../../kubernetes/object.ts';
import { kubeletUnit } from '../../machine-software/node-units.ts';
import type { Agent } from '../agent-context.ts';
import { acted, type Duty, type DutyOutcome, settled, waiting } from '../duty.ts';
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
    const isKnown = (await host.files.facts(kubeletClientCertificate)) !== undefined;
    const missing = isKnown ? undefined : await joinMissing(agent);
    if (missing !== undefined) return missing;
    // In this order: if the agent ends in between, the next run does both again.
    await runCommand(host, programs.systemctl, ['start', '--no-block', unit]);
    await letStartAtBoot(host.files, unit);
    return acted(`started ${unit}`);
  },
};

interface AccessReview extends KubernetesObject {
  readonly status?: { readonly allowed?: boolean };
}

/** Checks with the token of this machine whether it may request the certificate of a node. */
async function joinMissing({ host, apiServerUrl, signal }: Agent): Promise<DutyOutcome | undefined> {
  await using client = await connectKubernetes(host, { path: bootstrapKubeconfig });
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    metadata: { name: '' },
    spec: {
      resourceAttributes: { group: 'certificates.k8s.io', resource: 'certificatesigningrequests', verb: 'create' },
    },
  };
  try {
    const { status } = await client.create<AccessReview>(review, { signal, deadlineMs: 2_000 });
    return status?.allowed === true
      ? undefined
      : waiting(waitingFor('leave to ask the API for the certificate of a node'));
  } catch (error) {
    if (isError(error, kubernetesErrors.UNAUTHORIZED))
      return waiting(waitingFor('the API', 'to know the token of this machine'));
    if (!isError(error, kubernetesErrors.UNREACHABLE)) throw error;
    return waiting(waitingFor(`the API at ${apiServerUrl}`, '', { detail: error.details.reason }));
  }
}
