// How a machine reaches the world: through a proxy, trusting authorities of the user's. Both are for the units that go
// there; those that talk to the API or to their own machine alone are left as they are.
import { bootkubeUnit, tectonicUnit } from './bootstrap-units.ts';
import { proxyEnvironment } from '../contract/machine-paths.ts';
import type { SoftwareFacts, MachineRole, SoftwarePart } from './machine-software.ts';
import { agentUnit, containerdUnit, kubeletUnit } from './node-units.ts';
import { proxyDropins, proxyEnvironmentText } from './proxy.ts';
import { authorityFiles, systemTrustDropins, systemTrustUnit } from './system-trust.ts';

export function wayOutSoftware(role: MachineRole, facts: SoftwareFacts): Required<SoftwarePart> {
  const { proxy, additionalTrustBundle } = facts;
  const ours = role === 'bootstrap' ? [bootkubeUnit.name, tectonicUnit.name] : [agentUnit.name];
  const all = [containerdUnit.name, kubeletUnit({ mode: 'cluster' }).name, ...ours, ...preparingUnits(role, facts)];
  const environment =
    proxy === undefined ? [] : [{ path: proxyEnvironment, text: proxyEnvironmentText(proxy), mode: 0o600 }];
  const hasTrust = additionalTrustBundle !== undefined;
  return {
    files: [...environment, ...(hasTrust ? authorityFiles(additionalTrustBundle) : [])],
    directories: [],
    units: hasTrust ? [systemTrustUnit] : [],
    dropins: [
      ...(proxy === undefined ? [] : proxyDropins(proxy, { units: all, isBootstrap: role === 'bootstrap' })),
      ...(hasTrust ? systemTrustDropins(ours) : []),
    ],
  };
}

/** Of those that prepare a node; not what they add to units of ours. */
function preparingUnits(role: MachineRole, { nodeBootstrap }: SoftwareFacts): readonly string[] {
  if (role === 'bootstrap') return [];
  return (nodeBootstrap?.units ?? []).filter(({ contents }) => contents !== undefined).map(({ name }) => name);
}
