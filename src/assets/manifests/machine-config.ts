// The objects that the configuration of each pool comes from: the kinds, the facts about the cluster, and the SSH keys
// of users. The built-in MachineConfigs are not written: they are generated from the facts where they are needed, so
// that a newer Firstlight brings newer ones.
import { baseRoles, sshMachineConfig } from '../../machine-config/base-machine-configs.ts';
import { machineConfigCrds } from '../../machine-config/crds.ts';
import { controllerConfigManifest, machineConfigManifest } from '../../machine-config/manifests.ts';
import { platformTraits } from '../../platform/platform-traits.ts';
import { clusterNames } from '../cluster-names.ts';
import { identity } from '../identity.ts';
import { installConfig } from '../install-config.ts';
import { rootCa } from '../signers.ts';
import { softwareFacts, sshKeys } from '../software-facts.ts';
import { manifestAsset } from './manifest-asset.ts';

export const machineConfigCrdManifest = manifestAsset({
  name: 'machine-config-crds',
  why: 'The API must know what a MachineConfig is before it can keep one.',
  inputs: {},
  objects: () => machineConfigCrds,
});

export const machineConfigFacts = manifestAsset({
  name: 'machine-config',
  why: 'Every machine of a pool gets the same configuration, made from these facts and from MachineConfigs of yours.',
  inputs: { installConfig, clusterNames, identity, rootCa },
  objects: ({ installConfig: config, clusterNames: names, identity: { clusterId }, rootCa: { certificatePem } }) => {
    const keys = sshKeys(config);
    const logins =
      keys.length === 0 ? [] : baseRoles.map((role) => machineConfigManifest(sshMachineConfig(role, keys)));
    const facts = softwareFacts(config, names, { clusterId, rootCaPem: certificatePem });
    const { sharesHost } = platformTraits(config.platform);
    const torcx = config.nodeBootstrap === 'torcx' ? { torcx: config.torcx ?? {} } : {};
    return [controllerConfigManifest(facts, { machines: { sharesHost }, ...torcx }), ...logins];
  },
});
