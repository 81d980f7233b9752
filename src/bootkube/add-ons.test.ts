import { beforeAll, describe, expect, test } from 'vitest';
import { copyOfMachine, type MachineWithApi, renderedMachine, runOn } from '../../test/machine-with-api.ts';
import { bootkubeJournal, removalMark } from '../contract/bootstrap-paths.ts';
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

type Condition = { readonly type: string; readonly status: string; readonly message: string };

function statusOf({ api }: MachineWithApi) {
  return api.find('ClusterVersion', 'version')?.['status'] as {
    readonly desired: object;
    readonly observedGeneration: number;
    readonly versionHash: string;
    readonly history: readonly { readonly state: string }[];
    readonly conditions: readonly Condition[];
  };
}

const conditionsOf = (machine: MachineWithApi): string =>
  statusOf(machine)
    .conditions.map(({ type, status }) => `${type}=${status}`)
    .join(' ');

async function recorded({ host }: MachineWithApi): Promise<readonly string[]> {
  const records = lastRecords(await readJournal(host.files, bootkubeJournal));
  return addonService.stages.map(({ name }) => name).filter((name) => records.has(name));
}

describe('tectonic', () => {
  test('succeeds when the add-ons work, and the ClusterVersion says what was seen', async () => {
    const machine = await copyOfMachine(handedOver);
    machine.api.onCreate = ({ kind }) => (kind === 'Deployment' ? available : {});
    await runOn(machine, addonService.stages);
    expect(machine.api.find('Infrastructure', 'cluster')).toMatchObject({ spec: { platform: 'local' } });
    expect(statusOf(machine)).toMatchObject({
      desired: { version: '0.1.0', image: machine.context.bootedRelease },
      observedGeneration: 1,
      versionHash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      history: [{ state: 'Completed' }],
    });
    expect(conditionsOf(machine)).toBe('Available=True Progressing=False Failing=False');
  });

  test('fails with an add-on missing, says which, and the next run goes on', async () => {
    const machine = await copyOfMachine(handedOver);
    machine.api.onCreate = ({ kind }) => (kind === 'Deployment' ? available : {});
    machine.api.refused.set('kube-dns', 'spec.clusterIP: provided IP is already allocated');
    await expect(runOn(machine, addonService.stages)).rejects.toMatchObject({
      code: 'BOOTKUBE_NOT_APPLIED',
      message: expect.stringContaining('Service kube-system/kube-dns (06-version-operator/') as string,
    });
    expect(conditionsOf(machine)).toBe('Available=False Progressing=True Failing=True');
    expect(statusOf(machine).conditions[0]?.message).toContain('already allocated');
    expect(await recorded(machine)).toEqual([]);
    machine.api.refused.clear();
    await runOn(machine, addonService.stages);
    expect(await recorded(machine)).toEqual(['add-ons', 'nodes']);
    expect(conditionsOf(machine)).toBe('Available=True Progressing=False Failing=False');
  });

  test('fails with a name server that does not start, however long it waits', async () => {
    const machine = await copyOfMachine(handedOver);
    await expect(runOn(machine, addonService.stages)).rejects.toMatchObject({
      code: 'WORKFLOW_DEADLINE',
      message: expect.stringContaining('CoreDNS is not available') as string,
    });
    expect(await recorded(machine)).toEqual(['add-ons']);
  });

  test('does not wait for ever for a machine that never joins', async () => {
    const machine = await copyOfMachine(handedOver);
    machine.api.onCreate = ({ kind }) => (kind === 'Deployment' ? available : {});
    machine.api.objects.delete('/api/v1/nodes/worker-0');
    const events: WorkflowEvent[] = [];
    await runOn(machine, addonService.stages, (event) => events.push(event));
    expect(JSON.stringify(events)).toContain('the add-ons work, not all machines are nodes');
  });
});

const available = { status: { conditions: [{ type: 'Available', status: 'True' }] } };

test('rm-assets removes nothing while a retry of tectonic needs it', async () => {
  const { host } = await copyOfMachine(handedOver);
  const files = host.disk.nodes.size;
  const { signal } = new AbortController();
  await expect(removeAssets({ host, emit: () => {}, signal })).rejects.toMatchObject({ code: 'BOOTKUBE_STILL_NEEDED' });
  expect(await host.files.facts(removalMark)).toBeUndefined();
  expect(await host.files.list(bootstrapFolder)).toContain('render');
  expect(host.disk.nodes.size).toBeGreaterThanOrEqual(files);
});
