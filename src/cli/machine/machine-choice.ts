// Which cluster and which machines a verb is about.
import { z } from 'zod';
import { chooseMachinePlatform } from '../../platform/choose-platform.ts';
import { clusterName } from '../../platform/machine.ts';
import type { Platform } from '../../platform/platform.ts';
import type { Invocation } from '../frame/verb.ts';
import { cliErrors } from '../frame/errors.ts';
import { platformNameOf, readClusterMetadata } from '../../contract/cluster-metadata.ts';

export interface ChosenCluster {
  readonly platform: Platform;
  readonly cluster: string;
}

/** --cluster, else the cluster of the asset folder, else `default`. */
export async function chosenCluster({ host, options, global }: Invocation): Promise<ChosenCluster> {
  const { cluster } = z.looseObject({ cluster: z.string().optional() }).parse(options);
  if (cluster !== undefined) return { platform: chooseMachinePlatform(host), cluster };
  const metadata = await readClusterMetadata(host.files, global.dir);
  if (metadata === undefined) return { platform: chooseMachinePlatform(host), cluster: 'default' };
  const platform = chooseMachinePlatform(host, metadata.platform);
  return { platform, cluster: clusterName.parse(platformNameOf(metadata)) };
}

/** The machines named, or all of them with --all; naming none is a mistake, not a wish. */
export async function chosenMachines(
  invocation: Invocation,
  { platform, cluster }: ChosenCluster,
): Promise<readonly string[]> {
  const { all } = z.looseObject({ all: z.boolean().default(false) }).parse(invocation.options);
  if (all) return (await platform.listMachines(cluster)).map((machine) => machine.name);
  if (invocation.args.length > 0) return invocation.args;
  throw cliErrors.USAGE({ command: 'firstlight machine', reason: 'name the machines, or say --all' });
}

const waiting = z.looseObject({ wait: z.boolean().default(true), timeout: z.coerce.number().positive() });

/** How long to wait for machines to boot; undefined with --no-wait. */
export function chosenPatienceMs({ options }: Invocation): number | undefined {
  const { wait, timeout } = waiting.parse(options);
  return wait ? timeout * 1000 : undefined;
}
