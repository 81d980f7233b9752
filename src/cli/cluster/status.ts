// `firstlight status`
import type { ClusterStatus } from '../../cluster/status.ts';
import { goingOnLines, pausedText } from '../../contract/bootstrap-pause.ts';
import { endReason } from '../../in-place/attempt-view.ts';
import { alignColumns } from '../frame/columns.ts';
import { flag, option, text } from '../frame/option.ts';
import { typedPath } from '../frame/paths.ts';
import { type CommandResult, defineVerb, type Invocation } from '../frame/verb.ts';

export const statusVerb = defineVerb({
  options: {
    waterfall: flag('--waterfall', 'show where the time of create cluster went, per machine'),
    svg: option('--svg <file>', 'the same as a picture', text),
  },
  examples: ['firstlight status', 'firstlight status --waterfall', 'firstlight status --svg run.svg'],
  run: async (invocation) => {
    const { host, global, signal, options } = invocation;
    if (options.waterfall || options.svg !== undefined) return showWaterfall(invocation, options.svg);
    const { clusterStatus } = await import('../../cluster/status.ts');
    const { dirOption } = await import('../../cluster/cluster-dir.ts');
    const seen = await clusterStatus(host, global.dir, signal);
    return { data: seen, text: statusText(seen, dirOption(host, global.dir)) };
  },
});

function statusText(seen: ClusterStatus, dirOption: string): string {
  const { cluster, infraId, machines, api, etcdVoters, nodes, pools } = seen;
  const ready = nodes.filter(({ isReady }) => isReady).length;
  const head = [
    `${cluster} (${infraId})`,
    `  API    ${api.isReady ? 'ready' : `does not answer: ${api.reason ?? ''}`}`,
    ...(api.isReady ? [`  etcd   ${etcdVoters.length} voters: ${etcdVoters.join(', ')}`] : []),
    ...(api.isReady ? [`  nodes  ${ready} of ${nodes.length} Ready`] : []),
    ...releaseLines(seen),
    ...pools.filter(({ state }) => state !== 'updated').map((pool) => `  pool   ${poolLine(pool)}`),
    ...heldLines(seen, dirOption),
    ...attemptLines(seen),
    '',
  ].join('\n');
  if (machines.length === 0) return `${head}\nno machines on this host\n`;
  const rows = machines.map(({ name, role, address, state, detail }) => {
    const node = nodes.find((one) => one.name === name);
    return [name, role, address, state, node === undefined ? '-' : node.isReady ? 'Ready' : 'NotReady', detail];
  });
  return `${head}\n${alignColumns([['MACHINE', 'ROLE', 'ADDRESS', 'STATE', 'NODE', 'DETAIL'], ...rows])}`;
}

/** The release, and each operator that is not well with what it says; `kubectl get clusteroperators` shows all. */
function releaseLines({ release, operators }: ClusterStatus): readonly string[] {
  if (release === null) return [];
  const unwell = operators.filter(({ isAvailable, isDegraded }) => !isAvailable || isDegraded);
  const words = release.isAvailable && !release.isProgressing && !release.isFailing ? '' : `: ${release.message}`;
  const count = `${operators.length - unwell.length} of ${operators.length} operators are well`;
  return [
    `  runs   release ${release.version ?? 'unknown'}, ${count}${words}`,
    ...unwell.map(({ name, isAvailable, message }) => {
      return `  unwell ${name} is ${isAvailable ? 'degraded' : 'not available'}: ${message}`;
    }),
  ];
}

function heldLines({ bootstrap }: ClusterStatus, dirOption: string): readonly string[] {
  if (bootstrap?.state !== 'paused') return [];
  const [first, ...others] = [`${pausedText(bootstrap.stage)}:`, ...goingOnLines(dirOption)];
  return [`  held   ${first}`, ...others.map((line) => `         ${line}`)];
}

/** `worker is updating, 1 of 2: worker-1 is draining, waits for …`; `machine-config status` says more. */
function poolLine({ name, state, renderProblem, nodes }: ClusterStatus['pools'][number]): string {
  const done = nodes.filter(({ phase }) => phase === 'done').length;
  const moving = nodes.filter(({ phase }) => phase !== 'done' && phase !== 'queued');
  const words = moving.map(({ name: node, phase, reason, waitsFor }) => {
    const more = reason ?? (waitsFor === null ? '' : `waits for ${waitsFor}`);
    return `${node} is ${phase}${more === '' ? '' : `, ${more}`}`;
  });
  const about = renderProblem === null ? words : [renderProblem];
  return `${name} is ${state}, ${done} of ${nodes.length}${about.length === 0 ? '' : `: ${about.join('; ')}`}`;
}

/** Attempts that run, and those that failed and left their node cordoned; `ipb status` says more. */
function attemptLines({ attempts, pools }: ClusterStatus): readonly string[] {
  const cordoned = new Set(
    pools.flatMap(({ nodes }) => nodes.filter((node) => node.isCordoned)).map(({ name }) => name),
  );
  return attempts
    .filter(({ node, phase, isEnded }) => !isEnded || (phase !== 'Succeeded' && cordoned.has(node)))
    .map((attempt) => {
      const { node, phase, waitsFor } = attempt;
      if (attempt.isEnded)
        return `  ipb    ${node} is cordoned since its attempt ended with ${phase}: ${endReason(attempt)}`;
      return `  ipb    ${node} is in phase ${phase}${waitsFor === null ? '' : `, waits for ${waitsFor}`}`;
    });
}

/** As text, or as a picture in the file `svg`. */
async function showWaterfall(
  { host, global }: Pick<Invocation, 'host' | 'global'>,
  svg: string | undefined,
): Promise<CommandResult> {
  const { clusterWaterfall } = await import('../../cluster/cluster-waterfall.ts');
  const waterfall = await clusterWaterfall(host, global.dir);
  if (svg === undefined) {
    const { waterfallText } = await import('../../waterfall/waterfall-text.ts');
    return { data: waterfall, text: waterfallText(waterfall) };
  }
  const { waterfallSvg } = await import('../../waterfall/waterfall-svg.ts');
  const file = typedPath(host, svg);
  await host.files.write(file, waterfallSvg(waterfall));
  return { data: { ...waterfall, file }, text: `${svg}\n` };
}
