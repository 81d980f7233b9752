// What the two verbs that gather share: options, progress, and the words at the end.
import type { GatherSsh } from '../../cluster/gather-cluster.ts';
import {
  flag,
  option,
  optionWithDefault,
  positiveNumber,
  repeatableOption,
  text,
  type ValuesOf,
} from '../frame/option.ts';
import { shownPath, typedPath } from '../frame/paths.ts';
import { firstlightVersion } from '../frame/program.ts';
import type { CommandResult, Invocation } from '../frame/verb.ts';

export const gatherOptions = {
  bootstrap: option('--bootstrap <address>', 'the bootstrap machine, by SSH', text),
  master: repeatableOption('--master <address>', 'a master, by SSH; may be repeated', text),
  worker: repeatableOption('--worker <address>', 'a worker, by SSH; may be repeated', text),
  user: optionWithDefault('--user <name>', 'who logs in by SSH', text, 'core'),
  sshKey: option('--ssh-key <file>', 'the private key; otherwise what ssh itself would use', text),
  timeout: optionWithDefault('--timeout <seconds>', 'what is not taken by then is left out', positiveNumber, 15),
  collectors: flag('--collectors', 'list what is taken instead'),
};

export async function runGather(
  invocation: Invocation<unknown, ValuesOf<typeof gatherOptions>>,
  scope: 'bootstrap' | 'all',
): Promise<CommandResult> {
  const { host, global, signal, options, emit } = invocation;
  if (options.collectors) return listCollectors();
  const { gatherCluster } = await import('../../cluster/gather-cluster.ts');
  const { bundleText } = await import('./bundle-text.ts');
  const startMs = host.clock.monotonicMs();
  const { path, files, summary } = await gatherCluster({
    host,
    dir: global.dir,
    signal,
    scope,
    ssh: sshAccess(invocation),
    command: scope === 'all' ? 'firstlight gather' : 'firstlight gather bootstrap',
    version: firstlightVersion,
    timeoutMs: options.timeout * 1000,
    report: (line) => emit({ kind: 'notice', level: 'info', text: line }),
  });
  const elapsedMs = host.clock.monotonicMs() - startMs;
  const shown = shownPath(invocation, path.slice(global.dir.length + 1));
  return {
    data: { bundle: path, files, elapsedMs, ...summary },
    text: `${bundleText(summary)}\n  ${shown}   ${files} files in ${(elapsedMs / 1000).toFixed(1)} s\n  Look at it: tar -xzf ${shown} -C /tmp, then open /tmp/${shown.replace(/^.*\//, '').replace('.tar.gz', '')}/index.html\n`,
  };
}

function sshAccess({ host, options }: Invocation<unknown, ValuesOf<typeof gatherOptions>>): GatherSsh {
  const { bootstrap, master, worker, user, sshKey } = options;
  return {
    addresses: { bootstrap: bootstrap === undefined ? [] : [bootstrap], master, worker },
    user,
    keyFile: sshKey === undefined ? undefined : typedPath(host, sshKey),
  };
}

async function listCollectors(): Promise<CommandResult> {
  const { machineCollectors } = await import('../../gather/machine/machine-collectors.ts');
  const { clusterCollectors } = await import('../../gather/cluster-wide/cluster-collectors.ts');
  const { alignColumns } = await import('../frame/columns.ts');
  const of = (from: string, { name, takes }: { readonly name: string; readonly takes: string }) => ({
    name,
    from,
    takes,
  });
  const data = [
    ...machineCollectors.map((collector) => of('every machine', collector)),
    ...clusterCollectors.map((collector) => of('the cluster', collector)),
  ];
  const rows = data.map(({ name, from, takes }) => [name, from, takes]);
  return { data, text: alignColumns([['COLLECTOR', 'FROM', 'TAKES'], ...rows]) };
}
