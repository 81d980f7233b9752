// Which cluster and which machines a verb is about.
import { z } from 'zod';
import { clusterName } from '../../platform/machine.ts';
import { readMachines } from '../../platform/local/machine-folder.ts';
import type { Invocation } from '../frame/verb.ts';
import { cliErrors } from '../frame/errors.ts';
import { platformNameOf, readClusterMetadata } from '../../contract/cluster-metadata.ts';

/** --cluster, else the cluster of the asset folder, else `default`. */
export async function chosenCluster({ host, options, global }: Invocation): Promise<string> {
  const { cluster } = z.looseObject({ cluster: z.string().optional() }).parse(options);
  if (cluster !== undefined) return cluster;
  const metadata = await readClusterMetadata(host.files, global.dir);
  return metadata === undefined ? 'default' : clusterName.parse(platformNameOf(metadata));
}

/** The machines named, or all of them with --all; naming none is a mistake, not a wish. */
export async function chosenMachines(invocation: Invocation, cluster: string): Promise<readonly string[]> {
  const { all } = z.looseObject({ all: z.boolean().default(false) }).parse(invocation.options);
  if (all) return (await readMachines(invocation.host, cluster)).map((machine) => machine.name);
  if (invocation.args.length > 0) return invocation.args;
  throw cliErrors.USAGE({ command: 'firstlight machine', reason: 'name the machines, or say --all' });
}

const waiting = z.looseObject({ wait: z.boolean().default(true), timeout: z.coerce.number().positive() });

/** How long to wait for machines to boot; undefined with --no-wait. */
export function chosenPatienceMs({ options }: Invocation): number | undefined {
  const { wait, timeout } = waiting.parse(options);
  return wait ? timeout * 1000 : undefined;
}
