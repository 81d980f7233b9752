// The bootstrap machine goes, once it has said itself that nothing of the cluster is on it any more.
import { destroyMachines } from '../../platform/local/local-platform.ts';
import { readMachines } from '../../platform/local/machine-folder.ts';
import type { Stage } from '../../workflow/stage.ts';
import { assetsOf, type ClusterContext } from '../cluster-context.ts';
import { keepRun } from '../../waterfall/collect-run.ts';
import { platformName } from '../machine-requests.ts';
import { working } from '../../contract/stage-progress.ts';

export const removeBootstrap: Stage<ClusterContext> = {
  name: 'bootstrap',
  why: 'It has done its work; a machine that nobody needs can only do harm.',
  inputs: [],
  outputs: ['no bootstrap machine'],
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
    const cluster = platformName(assetsOf(context));
    report(working('It is now safe to remove the bootstrap resources'));
    await keepRun({ host, dir, cluster, records: journal.records });
    await destroyMachines({ host, emit, signal }, cluster, await bootstrapMachines(context));
    return { inputs: { cluster }, outputs: {}, note: 'removed' };
  },
  verify: [],
};

async function bootstrapMachines(context: ClusterContext): Promise<readonly string[]> {
  const machines = await readMachines(context.host, platformName(assetsOf(context)));
  return machines.filter(({ role }) => role === 'bootstrap').map(({ name }) => name);
}
