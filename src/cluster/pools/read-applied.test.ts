import { expect, test } from 'vitest';
import { fakeHost } from '../../host/fake/fake-host.ts';
import { readApplied } from './read-applied.ts';

const header = `apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata:
  name: 99-motd
  labels: {machineconfiguration.openshift.io/role: worker}
`;
const good = `${header}spec:
  config:
    ignition: {version: 3.4.0}
    storage: {files: [{path: /etc/motd, mode: 0644, contents: {source: 'data:,hello'}}]}
`;

async function read(files: Readonly<Record<string, string>>) {
  const host = fakeHost();
  await host.files.makeFolder('/work/mc');
  for (const [name, text] of Object.entries(files)) await host.files.write(`/work/mc/${name}`, text);
  return readApplied(host, { path: '/work/mc', shownName: (path) => path.replace('/work/', '') });
}

test('an object is what a person wrote, without what the API added to it', async () => {
  const exported = good.replace('metadata:\n', 'metadata:\n  uid: 1234\n  resourceVersion: "7"\n');
  const { objects, warnings } = await read({ 'a.yaml': `${exported}status: {anything: true}\n`, 'b.txt': 'not read' });
  expect(warnings).toEqual([]);
  expect(objects).toMatchObject([{ kind: 'MachineConfig', spec: { config: { ignition: { version: '3.4.0' } } } }]);
  expect(Object.keys(objects[0] ?? {})).toEqual(['apiVersion', 'kind', 'metadata', 'spec']);
  expect(objects[0]?.metadata).toEqual({
    name: '99-motd',
    labels: { 'machineconfiguration.openshift.io/role': 'worker' },
  });
});

test('all mistakes of all files are told at once, each with its place', async () => {
  const wrongMode = good.replace('mode: 0644', 'mode: wrong');
  const deployment = 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n';
  await expect(read({ 'a.yaml': wrongMode, 'b.yaml': deployment })).rejects.toThrow(
    /mc\/a\.yaml:9:\d+ .*mode[^]*mc\/b\.yaml:2:\d+ +Deployment is not applied by this command/,
  );
});

test('what the cluster makes is not a person’s to write', async () => {
  const rendered = good.replace('99-motd', 'rendered-worker-0123');
  await expect(read({ 'a.yaml': rendered })).rejects.toThrow(/rendered-worker-0123 is made by the cluster/);
});
