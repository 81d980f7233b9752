// Lets the containerd of this machine pull from the registry of the cluster: whom to believe stands in a ConfigMap, and
// is made only when the cluster stands, so it cannot be in a MachineConfig. containerd reads the files at every pull.
import { registryTrust, registryTrustKeys } from '../../contract/cluster-objects.ts';
import { registryHostsFolder } from '../../contract/machine-paths.ts';
import { isError } from '../../errors/firstlight-error.ts';
import { writeIfChanged } from '../../host/write-if-changed.ts';
import { kubernetesErrors } from '../../kubernetes/errors.ts';
import type { KubernetesObject } from '../../kubernetes/object.ts';
import { registryHostsFile } from '../../machine-software/registry-hosts.ts';
import type { Agent } from '../agent-context.ts';
import { acted, type Duty, settled } from '../duty.ts';

/** It becomes the name of a folder. */
const hostPattern = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?:\d{1,5}$/;

export const registryTrustDuty: Duty = {
  name: 'registry-trust',
  roles: ['master', 'worker'],
  needs: ['cluster-view'],
  ignoresRingsWhenSettled: true,
  tickMs: 5_000,
  run: async (agent) => {
    const data = (await findTrust(agent))?.['data'] as Readonly<Record<string, string>> | undefined;
    const host = data?.[registryTrustKeys.host] ?? '';
    const authority = data?.[registryTrustKeys.authority];
    if (authority === undefined || !hostPattern.test(host)) return settled();
    const caFile = `${registryHostsFolder}/${host}/ca.crt`;
    const hosts = registryHostsFile({ name: host, mirrors: [{ url: `https://${host}`, caFile }] });
    const files = [{ path: caFile, text: authority }, hosts];
    const written = await Promise.all(
      files.map((file) => writeIfChanged(agent.host.files, { ...file, mode: 0o644, isDurable: false })),
    );
    return written.includes(true) ? acted(`told containerd whom to believe at ${host}`) : settled();
  },
};

/** Undefined in a cluster without a registry: then nobody gave machines the right to look, either. */
async function findTrust({ api, signal }: Agent): Promise<KubernetesObject | undefined> {
  try {
    return await (await api()).find(registryTrust, { signal });
  } catch (error) {
    if (isError(error, kubernetesErrors.FORBIDDEN)) return undefined;
    throw error;
  }
}
