import { beforeAll, describe, expect, test } from 'vitest';
import type { ApiOfObjects } from '../../test/api-of-objects.ts';
import { copyOfMachine, type MachineWithApi, renderedMachine, runOn } from '../../test/machine-with-api.ts';
import { bootkubeJournal, removalMark } from '../contract/bootstrap-paths.ts';
import { versionOperator } from '../contract/cluster-version.ts';
import { inPlaceDaemonSet, inPlaceFactsConfigMap } from '../contract/in-place.ts';
import { bootstrapFolder } from '../contract/machine-paths.ts';
import { lastRecords } from '../workflow/engine.ts';
import type { WorkflowEvent } from '../workflow/events.ts';
import { readJournal } from '../workflow/journal.ts';
import { addonService } from './add-ons.ts';
import { removeAssets } from './rm-assets.ts';
import { stages } from './stages.ts';

let handedOver: MachineWithApi;
beforeAll(async () => {
  handedOver = await renderedMachine(async () => {});
  await runOn(handedOver, stages);
  handedOver.api.put({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'any' } });
  for (const { name } of handedOver.context.inventory.machines)
    handedOver.api.put({ apiVersion: 'v1', kind: 'Node', metadata: { name } });
});

/** Deployments are available at once, and the version operator goes through the release at once. */
function lively({ api }: MachineWithApi): void {
  api.onCreate = ({ kind, metadata: { name } }) => {
    if (name === versionOperator.name) hasPassed(api);
    return kind === 'Deployment' ? available : {};
  };
}

const available = { status: { observedGeneration: 1, conditions: [{ type: 'Available', status: 'True' }] } };

function hasPassed(api: ApiOfObjects): void {
  const status = { conditions: [{ type: 'FirstPassDone', status: 'True' }] };
  Object.assign(api.find('ClusterVersion', 'version') ?? {}, { status });
}

async function recorded({ host }: MachineWithApi): Promise<readonly string[]> {
  const records = lastRecords(await readJournal(host.files, bootkubeJournal));
  return addonService.stages.map(({ name }) => name).filter((name) => records.has(name));
}

describe('tectonic', () => {
  test('succeeds when names work and the version operator has been through the release', async () => {
    const machine = await copyOfMachine(handedOver);
    lively(machine);
    await runOn(machine, addonService.stages);
    expect(machine.api.find('Infrastructure', 'cluster')).toMatchObject({ spec: { platform: 'local' } });
    expect(machine.api.find('ConfigMap', inPlaceFactsConfigMap.name)).toBeDefined();
    expect(machine.api.find('DaemonSet', inPlaceDaemonSet)).toBeDefined();
  });

  test('leaves the status of the ClusterVersion to the operator in the cluster', async () => {
    const machine = await copyOfMachine(handedOver);
    lively(machine);
    await runOn(machine, addonService.stages);
    expect(machine.api.find('ClusterVersion', 'version')?.['status']).toEqual({
      conditions: [{ type: 'FirstPassDone', status: 'True' }],
    });
  });

  test('fails with an add-on missing, says which, and the next run goes on', async () => {
    const machine = await copyOfMachine(handedOver);
    lively(machine);
    machine.api.refused.set('kube-dns', 'spec.clusterIP: provided IP is already allocated');
    await expect(runOn(machine, addonService.stages)).rejects.toMatchObject({
      code: 'BOOTKUBE_NOT_APPLIED',
      message: expect.stringContaining('Service kube-system/kube-dns (06-version-operator/') as string,
    });
    expect(await recorded(machine)).toEqual([]);
    machine.api.refused.clear();
    await runOn(machine, addonService.stages);
    expect(await recorded(machine)).toEqual(['add-ons', 'nodes']);
  });

  test('fails with a name server that does not start, however long it waits', async () => {
    const machine = await copyOfMachine(handedOver);
    hasPassed(machine.api);
    await expect(runOn(machine, addonService.stages)).rejects.toMatchObject({
      code: 'WORKFLOW_DEADLINE',
      message: expect.stringContaining('CoreDNS is not available') as string,
    });
    expect(await recorded(machine)).toEqual(['add-ons']);
  });

  test('waits for no name server where the ClusterVersion does not ask for one', async () => {
    const machine = await copyOfMachine(handedOver);
    const spec = machine.api.find('ClusterVersion', 'version')?.['spec'] as object;
    Object.assign(spec, { capabilities: { baselineCapabilitySet: 'None' } });
    hasPassed(machine.api);
    await runOn(machine, addonService.stages);
    expect(await recorded(machine)).toEqual(['add-ons', 'nodes']);
  });

  test('fails while the version operator has not been through the release, and says why it does not run', async () => {
    const machine = await copyOfMachine(handedOver);
    machine.api.onCreate = ({ metadata: { name } }) => (name === 'coredns' ? available : {});
    await expect(runOn(machine, addonService.stages)).rejects.toMatchObject({
      code: 'WORKFLOW_DEADLINE',
      message: expect.stringContaining('the version operator does not run: the controller manager has not') as string,
    });
    const idle = await copyOfMachine(handedOver);
    idle.api.onCreate = ({ kind }) => (kind === 'Deployment' ? available : {});
    await expect(runOn(idle, addonService.stages)).rejects.toMatchObject({
      message: expect.stringContaining('the version operator has not been through the release yet') as string,
    });
  });

  test('does not wait for ever for a machine that never joins', async () => {
    const machine = await copyOfMachine(handedOver);
    lively(machine);
    machine.api.objects.delete('/api/v1/nodes/worker-0');
    const events: WorkflowEvent[] = [];
    await runOn(machine, addonService.stages, (event) => events.push(event));
    expect(JSON.stringify(events)).toContain('the add-ons work, not all machines are nodes');
  });
});

test('rm-assets removes nothing while a retry of tectonic needs it', async () => {
  const { host } = await copyOfMachine(handedOver);
  const files = host.disk.nodes.size;
  const { signal } = new AbortController();
  await expect(removeAssets({ host, emit: () => {}, signal })).rejects.toMatchObject({ code: 'BOOTKUBE_STILL_NEEDED' });
  expect(await host.files.facts(removalMark)).toBeUndefined();
  expect(await host.files.list(bootstrapFolder)).toContain('render');
  expect(host.disk.nodes.size).toBeGreaterThanOrEqual(files);
});
