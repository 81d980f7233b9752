import { describe, expect, test } from 'vitest';
import { isError } from '../errors/firstlight-error.ts';
import { installConfigErrors } from './errors.ts';
import { type CheckedInstallConfig, checkInstallConfig, defaultInstallConfig, parseInstallConfig } from './parse.ts';

const options = { file: 'install-config.yaml', architecture: 'amd64' } as const;

function messageOf(text: string): string {
  try {
    parseInstallConfig(text, options);
    return 'valid';
  } catch (error) {
    if (isError(error, installConfigErrors.MISTAKES)) return error.message;
    throw error;
  }
}

/** `line:column message` of each mistake. */
function mistakesIn(text: string): readonly string[] {
  const checked: CheckedInstallConfig = checkInstallConfig(text, options);
  if (checked.status === 'valid') return [];
  return checked.mistakes.map(({ line, column, message }) => `${line}:${column} ${message}`);
}

test('a capability that does not exist is a mistake at its place, with the one that was meant', () => {
  const text = 'capabilities:\n  baselineCapabilitySet: Minimal\n  additionalEnabledCapabilities: [DNS, Registri]\n';
  expect(messageOf(text)).toContain('install-config.yaml:3:40');
  expect(messageOf(text)).toMatch(
    /additionalEnabledCapabilities\[1\] "Registri" is not one of .*did you mean Registry\?/,
  );
});

describe('an install-config without mistakes', () => {
  test('may be empty: the default is a local cluster with three masters and one worker', () => {
    for (const text of ['', '\n', '# nothing\n', '{}', '---\n', '--- {}\n...\n', 'null']) {
      expect(parseInstallConfig(text, options)).toEqual({ config: defaultInstallConfig('amd64'), warnings: [] });
    }
    expect(defaultInstallConfig('arm64')).toMatchObject({
      apiVersion: 'v1',
      metadata: { name: 'demo' },
      baseDomain: 'firstlight.test',
      platform: { local: {} },
      controlPlane: { name: 'master', replicas: 3, architecture: 'arm64', hyperthreading: 'Enabled' },
      compute: [{ name: 'worker', replicas: 1, architecture: 'arm64' }],
      networking: {
        networkType: 'Firstlight',
        machineNetwork: [{ cidr: '10.99.0.0/24' }],
        clusterNetwork: [{ cidr: '10.128.0.0/14', hostPrefix: 23 }],
        serviceNetwork: ['172.30.0.0/16'],
      },
    });
  });

  test('may be JSON', () => {
    const { config } = parseInstallConfig('{"$schema": "x.json", "metadata": {"name": "json"}}', options);
    expect(config.metadata.name).toBe('json');
  });

  test('may be one that openshift-install wrote for user-provisioned machines', () => {
    const text = `
additionalTrustBundlePolicy: Proxyonly
apiVersion: v1
baseDomain: example.test.
compute:
- architecture: amd64
  hyperthreading: Enabled
  name: worker
  platform: {}
  replicas: 3
controlPlane:
  architecture: amd64
  hyperthreading: Enabled
  name: master
  platform: {}
  replicas: 3
metadata:
  creationTimestamp: null
  name: ocp
networking:
  clusterNetwork:
  - cidr: 10.128.0.0/14
    hostPrefix: 23
  machineNetwork:
  - cidr: 10.0.0.0/16
  serviceNetwork:
  - 172.30.0.0/16
platform:
  none: {}
publish: External
`;
    const { config, warnings } = parseInstallConfig(text, options);
    expect(warnings.map(({ message }) => message)).toEqual([expect.stringMatching(/^hosts is empty/)]);
    expect(config).toMatchObject({ baseDomain: 'example.test', platform: { none: {} }, compute: [{ replicas: 3 }] });
  });

  test('takes an empty value for one that was not given, and a bare platform for that platform', () => {
    const { config } = parseInstallConfig('sshKey:\nhosts:\nmetadata:\nplatform:\n  none:\n', options);
    expect(config).toEqual({ ...defaultInstallConfig('amd64'), platform: { none: {} } });
  });

  test('has warnings where it is odd but usable', () => {
    const text =
      'controlPlane: {replicas: 1}\ncompute:\n- replicas: 0\nnetworking: {serviceNetwork: [172.17.0.0/20]}\n';
    expect(parseInstallConfig(text, options).warnings.map(({ line, message }) => `${line} ${message}`)).toEqual([
      '1 controlPlane.replicas 1: without this one master there is no cluster',
      '3 compute[0].replicas 0: the masters are made schedulable and run everything',
      '4 serviceNetwork 172.17.0.0/20 overlaps 172.17.0.0/16, which is Docker’s bridge',
    ]);
  });
});

describe('mistakes', () => {
  test('are printed as a list with aligned places, all at once, with where to read on', () => {
    const text = `apiVersion: v1
metadata:
  name: demo
baseDomain: example.test
controlPlan:
  replicas: 3
networking:
  clusterNetwork: [{cidr: 10.128.0.0/14}]
  serviceNetwork: [10.130.0.0/16]
`;
    expect(messageOf(text)).toBe(`\
install-config.yaml:5:1  controlPlan: unknown field; did you mean controlPlane?
install-config.yaml:9:20 serviceNetwork 10.130.0.0/16 overlaps clusterNetwork 10.128.0.0/14

2 mistakes, nothing was written. firstlight explain installconfig.networking shows what is allowed.`);
  });

  test('are data too', () => {
    const checked = checkInstallConfig('controlPlan: {}', options);
    expect(checked).toMatchObject({
      status: 'mistaken',
      mistakes: [
        {
          file: 'install-config.yaml',
          line: 1,
          column: 1,
          path: 'controlPlan',
          text: '"controlPlan"',
          message: 'controlPlan: unknown field',
          suggestion: 'controlPlane',
          allowed: expect.stringContaining('controlPlane, compute') as string,
        },
      ],
    });
  });

  test('of one field do not cause messages about another', () => {
    expect(mistakesIn('networking: {servceNetwork: [10.99.0.0/24], clusterNetwork: [{cidr: 172.30.0.0/15}]}')).toEqual([
      '1:14 networking.servceNetwork: unknown field',
    ]);
    expect(mistakesIn('platform: {none: {}}\nhosts: [{name: a, role: master, addresses: [10.99.0.5, x]}]')).toEqual([
      '2:56 hosts[0].addresses[1] "x" is not an IPv4 address',
    ]);
  });

  test.each([
    ['a tab', 'metadata:\n\tname: x', ['2:1 a tab; YAML indents with spaces only']],
    ['a field twice', 'fips: false\nfips: false', ['2:1 fips: the same field is written a second time']],
    [
      'two documents',
      'fips: false\n---\nfips: false',
      ['2:1 a second document begins here; an install-config is one document'],
    ],
    [
      'a leading zero',
      'controlPlane: {replicas: 03}',
      ['1:26 03 begins with a zero, which some programs read as octal'],
    ],
    [
      'a leading zero where text belongs',
      'metadata: {name: 0644}',
      ['1:18 0644 begins with a zero, which some programs read as octal'],
    ],
    ['a list', '- a', ['1:1 the file holds a list instead of fields']],
    ['a word', 'hello', ['1:1 the file holds a single value instead of fields']],
    ['an alias', 'metadata: &a {name: x}\nproxy: *a', ['2:8 an alias; write the value out']],
    ['a cyclic alias', 'metadata: &a {name: *a}', ['1:21 an alias; write the value out']],
    ['a foreign tag', 'metadata: !thing {}', ['1:11 a tag (!…) that has no meaning here']],
    ['a list as a key', '? [a]\n: b', ['1:3 the name of a field must be plain text']],
    [
      'an open quote',
      'baseDomain: "x',
      ['1:15 something is missing here: a quote, a bracket, a comma, a colon or a space'],
    ],
    ['an unknown field', 'foo: 1', ['1:1 foo: unknown field']],
    ['a prototype', '__proto__: {a: 1}', ['1:1 __proto__: unknown field']],
    [
      'a field we do not serve',
      'arbiter: {}',
      ['1:1 arbiter: there are no arbiter machines; use an odd number of masters'],
    ],
    [
      'an older form',
      'apiVersion: v1beta4',
      ['1:13 apiVersion "v1beta4" is an older form that is not converted; rewrite the file as v1'],
    ],
    ['a number for text', 'metadata: {name: 12}', ['1:18 metadata.name 12 is not text; put it in quotes']],
    [
      'text for a number',
      'controlPlane: {replicas: "3"}',
      ['1:26 controlPlane.replicas "3" is text and must be a number; leave the quotes out'],
    ],
    [
      'a fraction',
      'controlPlane: {replicas: 2.5}',
      ['1:26 controlPlane.replicas 2.5 is a number and must be a whole number'],
    ],
    ['a list for a map', 'networking: []', ['1:13 networking is a list and must be a map of fields']],
    [
      'JSON where text belongs',
      'pullSecret: {"auths": {}}',
      ['1:13 pullSecret is a map of fields and must be text; put it in single quotes'],
    ],
    ['a hole in a list', 'hosts: [~]', ['1:9 hosts[0] is empty and must be a map of fields']],
    [
      'what is missing',
      'platform: {none: {}}\nhosts:\n- name: a\n  role: master',
      ['3:3 hosts[0].addresses is missing'],
    ],
    [
      'a near value',
      'hosts:\n- {name: a, role: Master, addresses: [10.99.0.4]}',
      ['2:19 hosts[0].role "Master" is not one of the allowed values'],
    ],
    ['no masters', 'controlPlane: {replicas: 0}', ['1:26 controlPlane.replicas 0 is less than 1']],
    ['an empty platform', 'platform: {}', ['1:11 platform is empty']],
    ['a cloud', 'platform: {aws: {region: r}}', ['1:12 platform.aws: unknown field']],
    [
      'FIPS',
      'fips: true',
      ['1:7 fips true cannot be had: the Kubernetes that is installed is not validated for FIPS 140'],
    ],
  ])('%s is one clear message at its place', (_, text, expected) => {
    expect(mistakesIn(text)).toEqual(expected);
  });

  test('a name of 300 characters is shown clipped', () => {
    const message = messageOf(`metadata: {name: ${'a'.repeat(300)}}`);
    expect(message).toContain(`metadata.name "${'a'.repeat(60)}…" has 300 characters; allowed: lower-case letters`);
  });

  test('two masters are refused with the reason', () => {
    expect(messageOf('controlPlane: {replicas: 2}')).toContain(
      'etcd needs a majority, of 2 members that is both, so the loss of either stops the cluster; allowed: 1, 3, 5, 7',
    );
  });

  test('a secret is never repeated', () => {
    const text = `pullSecret: hunter2\nproxy: {httpProxy: "ftp://u:hunter2@x"}\nsshKey: |
  -----BEGIN OPENSSH PRIVATE KEY-----
  hunter2\n`;
    expect(messageOf(text)).not.toContain('hunter2');
    expect(messageOf(text)).toContain('sshKey [redacted] is a private key; give the public one');
  });

  test('control characters of the file do not reach the terminal', () => {
    expect(messageOf('metadata: {name: "\\e[31mred\\u202e"}')).toContain('"\\u001b[31mred\\u202e"');
  });

  test('an alias bomb, endless nesting and a huge file end at once', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    const bomb = names
      .map((name, i) => `${name}: &${name} [${`*${names[i - 1]},`.repeat(i === 0 ? 0 : 9)}]`)
      .join('\n');
    expect(mistakesIn(bomb)).toContain('2:8 an alias; write the value out');
    expect(mistakesIn('['.repeat(20_000))).toEqual(['1:65 fields are nested more than 64 deep']);
    expect(mistakesIn('- '.repeat(20_000))[0]).toContain('nested more than 64 deep');
    expect(mistakesIn('x'.repeat(1024 * 1024 + 1))).toEqual(['1:1 the file has 1048577 bytes']);
  });

  test('a file that is wrong everywhere gets a hundred lines, not more', () => {
    const text = Array.from({ length: 5000 }, (_, i) => `field${i}: 1`).join('\n');
    expect(mistakesIn(text)).toHaveLength(100);
    expect(messageOf(text)).toContain('100 mistakes or more, nothing was written.');
  });
});
