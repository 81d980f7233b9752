// What can go wrong between "create cluster" and a cluster.
import { exitCodes } from '../errors/exit-codes.ts';
import { errorTable } from '../errors/firstlight-error.ts';

export const clusterErrors = errorTable('CLUSTER', {
  PLATFORM_NONE: {
    message: (e: { command: string }) => `${e.command} cannot make machines on platform none`,
    hint: 'Boot your machines with bootstrap.ign, master.ign and worker.ign from create ignition-configs.',
    means: 'On platform none you bring the machines, DNS and the load balancer; firstlight makes what they boot with.',
    exit: exitCodes.usage,
  },
  NO_CLUSTER: {
    message: (e: { dir: string }) => `there is no cluster in ${e.dir}`,
    hint: 'firstlight create cluster makes one; --dir names another folder.',
    means: 'The folder has no metadata.json, so no cluster was made from it.',
    exit: exitCodes.usage,
  },
  STALLED: {
    message: (e: { seconds: number; stage: string; missing: readonly string[] }) =>
      `nothing has moved for ${e.seconds} s at ${e.stage}: ${e.missing.join('; ') || 'and nothing says why'}`,
    hint: 'firstlight status shows every machine; the same command continues where it stopped.',
    means: 'While something moves there is no timeout. Nothing moved for long, so a person should look.',
    exit: exitCodes.bootstrapFailed,
  },
});
