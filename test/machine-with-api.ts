// A bootstrap machine for tests, beside an API in memory that knows the kinds of everything that the stages render.
import { type BootkubeContext, loadContext } from '../src/bootkube/context.ts';
import { renderStages } from '../src/bootkube/render-stages.ts';
import { addonPlaces, configurationPlaces, renderedManifests, seedPlaces } from '../src/bootkube/rendered-manifests.ts';
import { runBootkubeStages } from '../src/bootkube/run-service.ts';
import type { FakeDisk } from '../src/host/fake/fake-files.ts';
import { type FakeHost, fakeHost } from '../src/host/fake/fake-host.ts';
import type { Emit } from '../src/workflow/events.ts';
import type { Stage } from '../src/workflow/stage.ts';
import { ApiOfObjects } from './api-of-objects.ts';
import { bootedMachine } from './booted-machine.ts';

export interface MachineWithApi {
  readonly host: FakeHost;
  readonly api: ApiOfObjects;
  readonly context: BootkubeContext;
}

/** After the stages that render. `prepare` changes what Ignition wrote. */
export async function renderedMachine(prepare: (host: FakeHost) => Promise<void>): Promise<MachineWithApi> {
  const plain = await bootedMachine();
  await prepare(plain);
  const context = await loadContext(plain, () => {});
  await runOn({ context }, renderStages);
  const places = [...seedPlaces, ...addonPlaces, ...configurationPlaces];
  const samples = (await renderedManifests(context, places)).map(({ value }) => value as { apiVersion: string });
  const known = samples.filter(
    ({ apiVersion }) => !apiVersion.includes('openshift') && !/\.(test|dev)\//.test(apiVersion),
  );
  return machineWith(plain.disk, new ApiOfObjects(known));
}

async function machineWith(disk: FakeDisk, api: ApiOfObjects): Promise<MachineWithApi> {
  const host = fakeHost({ disk, network: api.network });
  return { host, api, context: await loadContext(host, () => {}) };
}

/** Another machine in the same state, with an API of its own. */
export function copyOfMachine({ host, api }: MachineWithApi): Promise<MachineWithApi> {
  const nodes = new Map([...host.disk.nodes].map(([path, node]) => [path, { ...node }]));
  return machineWith({ ...host.disk, nodes, locked: new Set() }, api.copy());
}

export function runOn(
  { context }: Pick<MachineWithApi, 'context'>,
  stages: readonly Stage<BootkubeContext>[],
  emit: Emit = () => {},
): Promise<void> {
  const { signal } = new AbortController();
  return runBootkubeStages({ context, stages, emit, signal, purpose: 'test', patienceMs: 0 });
}
