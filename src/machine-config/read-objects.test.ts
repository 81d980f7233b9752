import { describe, expect, test } from 'vitest';
import { documentLimitBytes, readDocuments } from '../source-text/documents.ts';
import { mistakeText } from '../source-text/mistake.ts';
import { readObjects } from './read-objects.ts';

function read(text: string) {
  const { documents, mistakes } = readDocuments('mc.yaml', text);
  const objects = readObjects(documents);
  const all = [...mistakes, ...objects.mistakes];
  return { ...objects, lines: all.map((mistake) => mistakeText(mistake)) };
}

const header = (name: string, role = 'worker') => `apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata:
  name: ${name}
  labels:
    machineconfiguration.openshift.io/role: ${role}
`;

describe('an existing MachineConfig', () => {
  test.each(['3.0.0', '3.1.0', '3.2.0', '3.3.0', '3.4.0', '3.5.0'])('with Ignition %s is read as it is', (version) => {
    const { machineConfigs, lines } = read(`${header('a')}spec:
  kernelArguments: [quiet]
  config:
    ignition:
      version: ${version}
    storage:
      files:
        - path: /etc/x
          mode: 0644
          overwrite: on
          contents: {source: 'data:,hello'}
`);
    expect(lines).toEqual([]);
    expect(machineConfigs[0]?.spec.kernelArguments).toEqual(['quiet']);
    expect(machineConfigs[0]?.spec.config.storage?.files).toEqual([
      { path: '/etc/x', mode: 0o644, overwrite: true, contents: { source: 'data:,hello' } },
    ]);
  });

  test('without a config, or with an empty one, is about its other settings only', () => {
    const { machineConfigs, lines } = read(
      `${header('a')}spec: {kernelArguments: [x]}\n---\n${header('b')}spec: {config: {}}\n---\n${header('c')}`,
    );
    expect(lines).toEqual([]);
    expect(machineConfigs.map(({ spec }) => spec.config)).toEqual(
      Array.from({ length: 3 }, () => ({ ignition: { version: '3.5.0' } })),
    );
  });

  test('is also found in a List, as kubectl prints it, and in JSON', () => {
    const item = { apiVersion: 'machineconfiguration.openshift.io/v1', kind: 'MachineConfig', metadata: { name: 'j' } };
    const { machineConfigs } = read(JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [item] }));
    expect(machineConfigs.map(({ metadata }) => metadata.name)).toEqual(['j']);
  });

  test('of Ignition 2.x is refused with the way to convert it', () => {
    expect(read(`${header('old')}spec:\n  config:\n    ignition:\n      version: 2.2.0\n`).lines).toEqual([
      'mc.yaml:10:16  spec.config is Ignition 2.2.0; convert it to 3.x with ign-converter (github.com/coreos/ign-converter), which reads a 2.x config and writes the same as 3.x',
    ]);
  });
});

describe('mistakes', () => {
  test('in one of several documents do not hide the others, and each has its place', () => {
    const { machineConfigs, lines } = read(`${header('good')}---
kind: [broken
---
${header('bad')}spec:
  kernelType: fast
---
apiVersion: v1
kind: ConfigMap
metadata: {name: passed-over}
---
${header('relative')}spec:
  config:
    ignition: {version: 3.5.0}
    storage:
      files:
        - path: etc/x
---
${header('also-good')}`);
    expect(machineConfigs.map(({ metadata }) => metadata.name)).toEqual(['good', 'also-good']);
    expect(lines[0]).toMatch(/^mc\.yaml:\d+:\d+ {2}not YAML: /);
    expect(lines.slice(1)).toEqual([
      expect.stringMatching(/^mc\.yaml:17:15 {2}spec\.kernelType: /),
      expect.stringMatching(/^mc\.yaml:34:17 {2}spec\.config\.storage\.files\.0\.path: the path is not absolute/),
    ]);
  });

  test('of spelling are warnings, because the API would drop the field without a word', () => {
    const { machineConfigs, lines } = read(`${header('a')}spec:\n  kernelArgument: [x]\n`);
    expect(machineConfigs).toHaveLength(1);
    expect(lines).toEqual([
      'mc.yaml:8:19  warning: spec.kernelArgument: unknown field, ignored; did you mean kernelArguments?',
    ]);
  });

  test('name both places when a name is given twice', () => {
    expect(read(`${header('a')}---\n${header('a')}`).lines).toEqual([
      'mc.yaml:8:1  MachineConfig a is already defined at mc.yaml:1:1',
    ]);
  });

  test('a unit that systemd cannot read is refused with the line inside the unit', () => {
    const { lines } = read(`${header('a')}spec:
  config:
    ignition: {version: 3.5.0}
    systemd:
      units:
        - name: x.service
          contents: |
            Description=nowhere
            [Service]
            ExecStart=/bin/true
`);
    expect(lines).toEqual([
      'mc.yaml:13:21  spec.config.systemd.units.0.contents: unit x.service: line 1 stands before the first section: "Description=nowhere"',
    ]);
  });

  test('a file of 50 MB is refused before it is parsed', () => {
    const big = `${header('big')}spec: {config: {ignition: {version: 3.5.0}, storage: {files: [{path: /x, contents: {source: "data:,${'x'.repeat(50_000_000)}"}}]}}}\n`;
    const started = performance.now();
    const { machineConfigs, lines } = read(`${header('small')}---\n${big}`);
    expect(performance.now() - started).toBeLessThan(2_000);
    expect(machineConfigs.map(({ metadata }) => metadata.name)).toEqual(['small']);
    expect(lines).toEqual(['mc.yaml:8:1  this document has 47.7 MB; an object of the API has at most 1.5 MB']);
    expect(documentLimitBytes).toBeGreaterThan(1_572_864);
  });

  test('aliases that unfold without end are refused', () => {
    const bomb = ['a: &a [x,x,x,x,x,x,x,x,x]'];
    for (const [one, other] of ['ab', 'bc', 'cd', 'de', 'ef', 'fg'])
      bomb.push(`${other}: &${other} [${`*${one},`.repeat(9)}]`);
    expect(read(bomb.join('\n')).lines).toEqual([expect.stringContaining('not usable YAML')]);
  });

  test('a config that replaces the whole rendered one is refused; one that is merged on the machine is pointed out', () => {
    const { lines } = read(`${header('a')}spec:
  config:
    ignition:
      version: 3.5.0
      config:
        replace: {source: 'https://example.com/a.ign'}
---
${header('b')}spec:
  config:
    ignition:
      version: 3.5.0
      config:
        merge: [{source: 'https://example.com/b.ign'}]
`);
    expect(lines).toEqual([
      'mc.yaml:12:18  spec.config.ignition.config.replace: would replace what all other MachineConfigs say',
      expect.stringMatching(
        /^mc\.yaml:25:17 {2}warning: spec\.config\.ignition\.config\.merge\.0: is fetched at first boot/,
      ),
    ]);
  });

  test('modes above 0777, unknown extensions and the switch of the daemon are refused', () => {
    const { lines } = read(`${header('a')}spec:
  extensions: [ipsec, nonsense]
  config:
    ignition: {version: 3.5.0}
    storage:
      files:
        - {path: /a, mode: 04755, contents: {source: 'data:,'}}
        - {path: /run/machine-config-daemon-force}
`);
    expect(lines.filter((line) => !line.includes('warning'))).toEqual([
      expect.stringContaining('unknown extension nonsense'),
      expect.stringContaining('mode 04755 of /a is above 0777'),
      expect.stringContaining('/run/machine-config-daemon-force cannot be managed'),
    ]);
  });
});
