// Makes and starts the machines of the inventory. The bootstrap machine is made only while the masters do not carry the
// cluster: later it would begin a second cluster with the same keys.
import { type BootkubeEnvironment, bootkubeEnvironmentText } from '../../contract/bootkube-environment.ts';
import { bootkubeEnvironmentFile } from '../../contract/machine-paths.ts';
import type { FileNode, IgnitionConfig } from '../../ignition/config.ts';
import { dataUrl } from '../../ignition/data-url.ts';
import { serialize } from '../../ignition/serialize.ts';
import type { MachineRequest } from '../../platform/machine.ts';
import { ableTo } from '../../platform/platform.ts';
import type { Stage } from '../../workflow/stage.ts';
import type { ClusterContext } from '../cluster-context.ts';
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
    const environment = context.bootkubeEnvironment.get();
    const requests = plan.machines
      .filter(({ role }) => role !== 'bootstrap' || !isOver)
      .map((request) => (request.role === 'bootstrap' ? withImagesNamed(request, environment) : request));
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
 * The config of the bootstrap machine with the images of the release, which nobody knew when the config was made. A
 * config that names a release already, because a person wrote so, stays as it is.
 */
function withImagesNamed(request: MachineRequest, environment: BootkubeEnvironment): MachineRequest {
  const config = JSON.parse(Buffer.from(request.ignition).toString('utf8')) as IgnitionConfig;
  const files = config.storage?.files ?? [];
  if (files.some(({ path }) => path === bootkubeEnvironmentFile)) return request;
  const named: FileNode = {
    path: bootkubeEnvironmentFile,
    mode: 0o644,
    overwrite: true,
    contents: { source: dataUrl(bootkubeEnvironmentText(environment)) },
  };
  const ignition = serialize({ ...config, storage: { ...config.storage, files: [...files, named] } });
  return { ...request, ignition: Buffer.from(ignition) };
}

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
