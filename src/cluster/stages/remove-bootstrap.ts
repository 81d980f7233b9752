// Removes the bootstrap machine, once it has reported that nothing of the cluster is on it any more.
import { working } from '../../contract/stage-progress.ts';
import { ableTo } from '../../platform/platform.ts';
import { keepRun } from '../../waterfall/collect-run.ts';
import type { Stage } from '../../workflow/stage.ts';
import type { ClusterContext } from '../cluster-context.ts';

export const removeBootstrap: Stage<ClusterContext> = {
  name: 'bootstrap',
  why: 'It has done its work; a machine that nobody needs can only do harm.',
  observe: async (context) => {
    const names = await bootstrapMachines(context);
    if (names.length > 0 && context.keepsBootstrap) {
      const text = `${names.join(', ')} is kept, as asked: firstlight destroy bootstrap removes it`;
      context.emit({ kind: 'notice', level: 'info', text });
      return { status: 'done' };
    }
    return names.length === 0
      ? { status: 'done' }
      : { status: 'needed', because: `${names.join(', ')} is still there` };
  },
  run: async (context, { signal, report }) => {
    const { host, dir, emit, journal } = context;
    const { platform, name } = context.plan.get();
    report(working('It is now safe to remove the bootstrap resources'));
    await keepRun({ host, dir, platform, name, records: journal.records });
    await ableTo(platform, 'destroyMachines')({ emit, signal }, name, await bootstrapMachines(context));
    return { inputs: { cluster: name }, outputs: {}, note: 'removed' };
  },
};

async function bootstrapMachines({ plan }: ClusterContext): Promise<readonly string[]> {
  const { platform, name: cluster } = plan.get();
  const machines = await platform.listMachines(cluster);
  return machines.filter(({ role }) => role === 'bootstrap').map(({ name }) => name);
}
