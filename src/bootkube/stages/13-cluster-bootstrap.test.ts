import { beforeAll, expect, test } from 'vitest';
import { copyOfMachine, type MachineWithApi, renderedMachine, runOn } from '../../../test/machine-with-api.ts';
import { type KubernetesObject, referenceOf, referenceText } from '../../kubernetes/object.ts';
import type { WorkflowEvent } from '../../workflow/events.ts';
import { machineFolders } from '../context.ts';
import { renderStages } from '../render-stages.ts';
import { renderedManifests, seedPlaces } from '../rendered-manifests.ts';
import { clusterBootstrap } from './13-cluster-bootstrap.ts';

const file = `${machineFolders.assets}/manifests/widget.yaml`;
const manifest = (kind: string, apiVersion: string): string =>
  `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: { name: gear, namespace: default }\n`;
const seeding = [...renderStages, clusterBootstrap];

let clean: MachineWithApi;
beforeAll(async () => {
  clean = await renderedMachine(async () => {});
});

async function withWidget(): Promise<MachineWithApi> {
  const machine = await copyOfMachine(clean);
  await machine.host.files.write(file, manifest('Widget', 'toys.test/v1'));
  return machine;
}

function noteOf(events: readonly WorkflowEvent[]): string | undefined {
  const done = events.find((event) => event.kind === 'stage-done' && event.stage === clusterBootstrap.name);
  return done?.kind === 'stage-done' ? done.note : undefined;
}

test('what was applied is counted, and all of it is in the API', async () => {
  const machine = await copyOfMachine(clean);
  const events: WorkflowEvent[] = [];
  await runOn(machine, seeding, (event) => events.push(event));
  const manifests = await renderedManifests(machine.context, seedPlaces);
  // Some definitions come from two stages: they are one object each.
  const objects = new Set(manifests.map(({ value }) => referenceText(referenceOf(value as KubernetesObject))));
  expect(machine.api.objects.size).toBe(objects.size);
  expect(noteOf(events)).toBe(`${objects.size} objects in the API`);
});

test('pods and certificates are where the document says', async () => {
  const machine = await copyOfMachine(clean);
  await runOn(machine, seeding);
  const { files } = machine.host;
  expect(((await files.list('/etc/kubernetes/manifests')) ?? []).toSorted()).toEqual([
    'etcd-pod.yaml',
    'kube-apiserver-pod.yaml',
    'kube-controller-manager-pod.yaml',
    'kube-scheduler-pod.yaml',
  ]);
  expect(machine.host.disk.nodes.get('/etc/kubernetes/bootstrap-secrets')).toMatchObject({ target: 'pki' });
  expect(await files.list('/etc/kubernetes/pki')).toContain('etcd-signer.crt');
});

test('an object of an unknown kind fails the stage in seconds, with its file, its name and the reason', async () => {
  const machine = await withWidget();
  const startMs = machine.host.clock.monotonicMs();
  await expect(runOn(machine, seeding)).rejects.toMatchObject({
    code: 'BOOTKUBE_NOT_APPLIED',
    message:
      'one object is not in the API: Widget default/gear (01-manifests/widget.yaml#1): ' +
      'the API server https://localhost:6443 does not know Widget of toys.test/v1',
  });
  expect(machine.host.clock.monotonicMs() - startMs).toBeLessThan(15_000);
  // Nothing else had to wait for it.
  expect(machine.api.find('ClusterVersion', 'version')).toBeDefined();
});

test('it says what it waits for while it waits', async () => {
  const events: WorkflowEvent[] = [];
  await expect(runOn(await withWidget(), seeding, (event) => events.push(event))).rejects.toBeDefined();
  expect(JSON.stringify(events)).toContain('Widget default/gear (01-manifests/widget.yaml#1)');
});

test('once the manifest is corrected, the next run goes on and ends', async () => {
  const machine = await withWidget();
  await expect(runOn(machine, seeding)).rejects.toMatchObject({ code: 'BOOTKUBE_NOT_APPLIED' });
  const before = new Map(machine.api.objects);
  await machine.host.files.write(file, manifest('ConfigMap', 'v1'));
  await runOn(machine, seeding);
  expect(machine.api.find('ConfigMap', 'gear')).toBeDefined();
  for (const [path, object] of before) expect(machine.api.objects.get(path)).toEqual(object);
});

test('an object that the API refuses fails the stage at once', async () => {
  const machine = await copyOfMachine(clean);
  machine.api.refused.set('version', 'spec.clusterID: Invalid value');
  await expect(runOn(machine, seeding)).rejects.toMatchObject({
    code: 'BOOTKUBE_NOT_APPLIED',
    message: expect.stringContaining('ClusterVersion version (06-version-operator/') as string,
  });
});

test('after it has succeeded, a manifest that changes makes it run again', async () => {
  const machine = await copyOfMachine(clean);
  await runOn(machine, seeding);
  await machine.host.files.write(file, manifest('ConfigMap', 'v1'));
  await runOn(machine, seeding);
  expect(machine.api.find('ConfigMap', 'gear')).toBeDefined();
});
