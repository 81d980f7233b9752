// From KubeletConfigs to the MachineConfigs `99-<pool>-generated-kubelet[-N]`: the kubelet's configuration of the pool
// with the user's fields in it. Pure: the pool controller keeps the result in the API, bootkube renders with it.
import type { KubeletConfig } from './kubelet-config.ts';
import type { MachineConfig, MachineConfigPool } from './machine-config.ts';

/** On a generated MachineConfig: the name of the KubeletConfig that it was made from. */
export const kubeletConfigAnnotation = 'firstlight.io/generated-from-kubelet-config';

export interface KubeletConfigInput {
  readonly kubeletConfigs: readonly KubeletConfig[];
  readonly pools: readonly MachineConfigPool[];
  /** With `01-<role>-kubelet`, which have the defaults, and with what was generated before: each keeps its name. */
  readonly machineConfigs: readonly MachineConfig[];
  readonly generatedBy: string;
  /** Machines on the disk of their host; some limits are then not the user's to set. */
  readonly sharesHost: boolean;
}

export interface GeneratedKubeletConfigs {
  /** All that there should be; one that has `kubeletConfigAnnotation` and is not among them is to be deleted. */
  readonly machineConfigs: readonly MachineConfig[];
  /** One per KubeletConfig, for its condition `Success` or `Failure`. */
  readonly results: readonly KubeletConfigResult[];
}

export interface KubeletConfigResult {
  readonly kubeletConfig: string;
  /** The MachineConfigs made from it, one per pool. */
  readonly machineConfigs: readonly string[];
  /** Why it cannot be used; empty when it can. The pools that it selects keep what they have. */
  readonly problems: readonly string[];
  /** The pools that it selects. */
  readonly pools: readonly string[];
}

export function generateKubeletConfigs(_input: KubeletConfigInput): GeneratedKubeletConfigs {
  throw new Error('KubeletConfigs are not generated yet');
}
