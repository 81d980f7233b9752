// Makes and starts the machines of the inventory. The bootstrap machine is made only while the masters do not carry the
// cluster: later it would begin a second cluster with the same keys.
import { type BootstrapPause, pauseIn } from '../../contract/bootstrap-pause.ts';
import { ableTo } from '../../platform/platform.ts';
import type { Stage } from '../../workflow/stage.ts';
import { findBootstrapMachine } from '../bootstrap-machine.ts';
import { bootstrapRequest } from '../bootstrap-request.ts';
import type { ClusterContext } from '../cluster-context.ts';
import { dirOption } from '../cluster-dir.ts';
import { isHandedOver } from '../handed-over.ts';
import { placeHostEndpoint } from '../host-endpoint.ts';

export const machines: Stage<ClusterContext> = {
  name: 'machines',
  why: 'Everything that follows happens inside them, and goes on when this command ends.',
  observe: async () => ({ status: 'needed', because: 'what runs is asked of the host each time' }),
  run: async (context, { signal }) => {
    const { host, dir, emit, journal } = context;
    const plan = context.plan.get();
    const isOver = await isHandedOver({ host, dir, cluster: plan, records: journal.records });
    const additions = { environment: context.bootkubeEnvironment.get(), pause: await chosenPause(context) };
    const requests = plan.machines
      .filter(({ role }) => role !== 'bootstrap' || !isOver)
      .map((request) => (request.role === 'bootstrap' ? bootstrapRequest(request, additions) : request));
    const { name, domain, machineNetwork } = plan;
    const placed = await ableTo(plan.platform, 'createMachines')(
      { emit, signal },
      {
        cluster: { name, domain, ...(machineNetwork === undefined ? {} : { machineNetwork }) },
        machines: requests,
        image: context.image.get(),
      },
    );
    await placeHostEndpoint({ host, dir, placed, emit, signal });
    return { inputs: { cluster: name }, outputs: {}, note: namesInShort(requests.map((request) => request.name)) };
  },
};

/**
 * The pause that the bootstrap machine is, or was, made with: a later run of the command must ask for the same machine.
 * The config is read once, by the first boot, so another pause comes too late for it.
 */
async function chosenPause({
  host,
  dir,
  emit,
  journal,
  plan,
  pause,
}: ClusterContext): Promise<BootstrapPause | undefined> {
  const cluster = plan.get();
  const made = journal.records.findLast((record) => record.kind === pauseRecord && record['cluster'] === cluster.name);
  const former = pauseIn(made?.['pause']);
  if (pause?.before === former?.before) return pause;
  if ((await findBootstrapMachine(cluster)) === undefined) {
    await journal.append({ kind: pauseRecord, at: host.clock.now().toISOString(), cluster: cluster.name, pause });
    return pause;
  }
  if (pause !== undefined) {
    const command = `firstlight bootkube pause${dirOption(host, dir)}`;
    const text = `the bootstrap machine was made before and does not get this pause; ${command} holds it`;
    emit({ kind: 'notice', level: 'warn', text });
  }
  return former;
}

const pauseRecord = 'bootstrap-pause';

/** `bootstrap, master-0..2, worker-0`: consecutive numbers of one name as a range. */
export function namesInShort(names: readonly string[]): string {
  const runs: { readonly base: string; readonly first: number; last: number }[] = [];
  for (const name of names) {
    const [, base, digits] = /^(.*-)(\d+)$/.exec(name) ?? [];
    const run = runs.at(-1);
    if (base === undefined) runs.push({ base: name, first: -1, last: -1 });
    else if (run?.base === base && run.last + 1 === Number(digits)) run.last += 1;
    else runs.push({ base, first: Number(digits), last: Number(digits) });
  }
  return runs
    .map(({ base, first, last }) => (first < 0 ? base : `${base}${first}${first === last ? '' : `..${last}`}`))
    .join(', ');
}
