// An Ignition config that was downloaded for a look: read by the rules by which the host will read it.
import { type AppliedConfig, appliedConfigOf } from '../../config-daemon/applied-config.ts';
import { configDaemonErrors } from '../../config-daemon/errors.ts';
import { isError } from '../../errors/firstlight-error.ts';
import { inPlaceErrors } from '../errors.ts';
import { type InPlaceConfig, inPlaceConfig } from '../on-host/fetch-ignition.ts';

export type IgnitionContent =
  | { readonly status: 'read'; readonly config: InPlaceConfig; readonly machineConfig: AppliedConfig }
  | { readonly status: 'refused'; readonly reason: string };

export function ignitionContent(body: Uint8Array): IgnitionContent {
  try {
    const config = inPlaceConfig(body, 'the server');
    return { status: 'read', config, machineConfig: appliedConfigOf(JSON.parse(config.text), config.name) };
  } catch (error) {
    if (isError(error, inPlaceErrors.PAYLOAD_UNUSABLE)) return { status: 'refused', reason: error.details.reason };
    if (isError(error, configDaemonErrors.UNREADABLE)) return { status: 'refused', reason: error.message };
    throw error;
  }
}
