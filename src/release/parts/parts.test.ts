import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { partPlaces } from '../../contract/machine-paths.ts';
import { fakeHost } from '../../host/fake/fake-host.ts';
import { realHost } from '../../host/real/real-host.ts';
import { releaseErrors } from '../errors.ts';
import { digestOfModule, readParts } from './parts.ts';

const upstream = fileURLToPath(new URL('../../../upstream', import.meta.url));

test('the table in the checkout is valid, and every part has its module beside it', async () => {
  const host = realHost();
  const table = await readParts(host, upstream);
  expect(table.parts.filter((part) => part.use === 'release').length).toBeGreaterThan(5);
  for (const part of table.parts) {
    expect(await host.files.facts(`${upstream}/${part.module}/go.mod`), part.name).toBeDefined();
  }
});

test('Kubernetes is compiled after what machines have besides it, and add-ons, which share its packages, after it', async () => {
  const { parts } = await readParts(realHost(), upstream);
  const names = parts.filter((part) => part.use === 'release').map(({ name }) => name);
  const [before, after] = [names.slice(0, names.indexOf('kubernetes')), names.slice(names.indexOf('kubernetes') + 1)];
  const ofMachines = Object.keys(partPlaces).filter((name) => names.includes(name) && name !== 'kubernetes');
  expect(before).toEqual(expect.arrayContaining(ofMachines));
  expect(after).toEqual(expect.arrayContaining(['local-path-provisioner', 'metrics-server']));
});

test.each([
  ['{ "go": 1 }', releaseErrors.BAD_TABLE.code],
  ['not JSON', releaseErrors.BAD_TABLE.code],
  [undefined, releaseErrors.NO_SOURCES.code],
])('a table that reads %j is refused by name', async (text, code) => {
  const host = fakeHost();
  await host.files.makeFolder('/upstream');
  if (text !== undefined) await host.files.write('/upstream/parts.json', text);
  await expect(readParts(host, '/upstream')).rejects.toMatchObject({ code });
});

test('a module changes with its sources and its go.sum, but not with its tests', async () => {
  const host = fakeHost();
  await host.files.makeFolder('/m/inner');
  await host.files.write('/m/go.sum', 'a');
  await host.files.write('/m/inner/main.go', 'package main');
  const before = await digestOfModule(host, '/m');
  await host.files.write('/m/inner/main_test.go', 'package main');
  expect(await digestOfModule(host, '/m')).toBe(before);
  await host.files.write('/m/go.sum', 'b');
  expect(await digestOfModule(host, '/m')).not.toBe(before);
});
