// What `create cluster` prints at its end: what runs now, how to reach it, and where the time went.
import type { CreatedCluster } from '../../cluster/create-cluster.ts';
import type { CreateState } from '../../cluster/create-view.ts';

export interface Closing {
  readonly cluster: CreatedCluster;
  readonly state: CreateState;
  readonly elapsedMs: number;
  /** As the user would type it. */
  readonly kubeconfig: string;
  readonly dirOption: string;
  readonly keepsBootstrap: boolean;
}

const numbers = ['No', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine'];

export function closingText(closing: Closing): string {
  const { cluster, state, elapsedMs, kubeconfig, dirOption, keepsBootstrap } = closing;
  const done = (name: string): boolean => state.stages[name]?.ms !== undefined;
  const count = numbers[cluster.masters] ?? String(cluster.masters);
  const [noun, verb] = cluster.masters === 1 ? ['master', 'serves'] : ['masters', 'serve'];
  const voters = `${count.toLowerCase()} ${cluster.masters === 1 ? 'voter' : 'voters'}`;
  // What the release brings starts after the nodes are Ready, and is a figure of its own.
  const { operators, ...untilReady } = state.stages;
  const readyMs = elapsedMs - (operators?.ms ?? 0);
  const spent = Object.entries(untilReady)
    .filter(([, { ms }]) => ms !== undefined && ms >= 50)
    .map(([name, { ms = 0 }]) => `${name} ${(ms / 1000).toFixed(1)}`);
  return [
    ...(done('bootstrap') ? ['  It is now safe to remove the bootstrap resources. Removed.'] : []),
    `  ${count} ${noun} ${verb} the API; etcd has ${voters}; bootstrap is ${keepsBootstrap ? 'idle and kept' : 'gone'}.`,
    '',
    `  export KUBECONFIG=${kubeconfig}`,
    `  kubectl get nodes            or: firstlight kubectl${dirOption} get nodes`,
    '',
    ...spentLines(`  ${seconds(readyMs)} s   `, spent),
    ...(operators?.ms === undefined ? [] : [`  ${seconds(elapsedMs)} s   with all operators Available`]),
    `  Where the time went: firstlight status --waterfall${dirOption}`,
    `  Remove it: firstlight destroy cluster${dirOption}`,
    '',
  ].join('\n');
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}

const widest = 80;

/** A line breaks between two entries, never inside one. */
function spentLines(head: string, spent: readonly string[]): readonly string[] {
  const lines: string[] = [];
  for (const one of spent) {
    const last = lines.at(-1);
    const longer = last === undefined ? `${head}${one}` : `${last} · ${one}`;
    if (last === undefined || longer.length <= widest) lines.splice(-1, 1, longer);
    else lines.push(`${' '.repeat(head.length)}${one}`);
  }
  return lines;
}
