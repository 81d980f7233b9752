// `firstlight status`
import { clusterStatus, type ClusterStatus } from '../../cluster/status.ts';
import { z } from 'zod';
import type { CommandBody } from '../frame/verb.ts';
import { alignColumns } from '../machine/machine-table.ts';

const optionsSchema = z.looseObject({ waterfall: z.boolean().optional(), svg: z.string().optional() });

export const status: CommandBody = async (invocation) => {
  const { host, global, signal } = invocation;
  const { waterfall, svg } = optionsSchema.parse(invocation.options);
  if (waterfall === true || svg !== undefined) {
    const { statusWaterfall } = await import('./status-waterfall.ts');
    return statusWaterfall(invocation);
  }
  const seen = await clusterStatus(host, global.dir, signal);
  return { data: seen, text: statusText(seen) };
};

function statusText({ cluster, infraId, machines, api, etcdVoters, nodes }: ClusterStatus): string {
  const ready = nodes.filter(({ isReady }) => isReady).length;
  const head = [
    `${cluster} (${infraId})`,
    `  API    ${api.isReady ? 'ready' : `does not answer: ${api.reason ?? ''}`}`,
    ...(api.isReady ? [`  etcd   ${etcdVoters.length} voters: ${etcdVoters.join(', ')}`] : []),
    ...(api.isReady ? [`  nodes  ${ready} of ${nodes.length} Ready`] : []),
    '',
  ].join('\n');
  if (machines.length === 0) return `${head}\nno machines on this host\n`;
  const rows = machines.map(({ name, role, address, state, detail }) => {
    const node = nodes.find((one) => one.name === name);
    return [name, role, address, state, node === undefined ? '-' : node.isReady ? 'Ready' : 'NotReady', detail];
  });
  return `${head}\n${alignColumns([['MACHINE', 'ROLE', 'ADDRESS', 'STATE', 'NODE', 'DETAIL'], ...rows])}`;
}
