import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { IgnitionConfig } from '../ignition/config.ts';
import { mergeAll } from '../ignition/merge.ts';
import { normalize } from '../ignition/serialize.ts';
import type { MachineConfig } from './machine-config.ts';
import { configSpec, roleLabel } from './machine-config.ts';
import { mergeConfigs } from './merge-configs.ts';

function machineConfig(name: string, config: Partial<IgnitionConfig>): MachineConfig {
  return {
    metadata: { name, labels: { [roleLabel]: 'worker' }, annotations: {} },
    spec: configSpec({ ignition: { version: '3.5.0' }, ...config }),
  };
}

const file = (path: string, source: string, more: object = {}) => ({ path, contents: { source, ...more } });

describe('merging the configs of MachineConfigs', () => {
  test('a plain file over a compressed one is not unpacked', () => {
    const { config } = mergeConfigs([
      machineConfig('a', { storage: { files: [file('/x', 'data:,zip', { compression: 'gzip' })] } }),
      machineConfig('b', { storage: { files: [file('/x', 'data:,plain')] } }),
    ]);
    expect(config.storage?.files).toEqual([{ path: '/x', overwrite: true, contents: { source: 'data:,plain' } }]);
  });

  test('a file without contents is left without overwrite, which Ignition would refuse', () => {
    const { config } = mergeConfigs([machineConfig('a', { storage: { files: [{ path: '/x', mode: 0o600 }] } })]);
    expect(config.storage?.files).toEqual([{ path: '/x', mode: 0o600 }]);
  });

  test('drop-ins of one unit come together, and only what the later one says replaces the earlier', () => {
    const { config, entries } = mergeConfigs([
      machineConfig('a', {
        systemd: { units: [{ name: 'k.service', enabled: true, dropins: [{ name: '1.conf', contents: '[A]' }] }] },
      }),
      machineConfig('b', {
        systemd: { units: [{ name: 'k.service', dropins: [{ name: '2.conf', contents: '[B]' }] }] },
      }),
    ]);
    expect(config.systemd?.units).toEqual([
      {
        name: 'k.service',
        enabled: true,
        dropins: [
          { name: '1.conf', contents: '[A]' },
          { name: '2.conf', contents: '[B]' },
        ],
      },
    ]);
    expect(entries[0]?.sources.map((source) => source.machineConfig)).toEqual(['a', 'b']);
  });

  test('a link in place of a file takes its path and nothing else of it', () => {
    const { config, entries } = mergeConfigs([
      machineConfig('a', { storage: { files: [file('/x', 'data:,1')] } }),
      machineConfig('b', { storage: { links: [{ path: '/x', target: '/y' }] } }),
    ]);
    expect(config.storage).toEqual({ links: [{ path: '/x', target: '/y' }] });
    expect(entries).toHaveLength(1);
    expect(entries[0]).toMatchObject({ kind: 'link', name: '/x' });
  });

  test('a config of an older spec is brought to the newest before it is merged', () => {
    const old = machineConfig('a', { ignition: { version: '3.0.0' }, storage: { files: [file('/x', 'data:,1')] } });
    expect(mergeConfigs([old]).config.ignition.version).toBe('3.5.0');
  });
});

describe('for any MachineConfigs', () => {
  const name = fc.constantFrom('a', 'b', 'c', 'd');
  const source = fc.constantFrom('data:,1', 'data:,2');
  const unique = { selector: (item: { path?: string; name?: string }) => item.path ?? item.name };
  const files = fc.uniqueArray(
    fc.record(
      { path: name.map((at) => `/f/${at}`), mode: fc.constantFrom(0o600, 0o644), contents: fc.record({ source }) },
      { requiredKeys: ['path', 'contents'] },
    ),
    { ...unique, maxLength: 4 },
  );
  const links = fc.uniqueArray(fc.record({ path: name.map((at) => `/l/${at}`), target: name }), unique);
  const directories = fc.uniqueArray(
    fc.record({ path: name.map((at) => `/d/${at}`), mode: fc.constant(0o700) }, { requiredKeys: ['path'] }),
    unique,
  );
  // The same paths as files, in some of them, so that kinds replace each other.
  const strays = fc.uniqueArray(fc.record({ path: name.map((at) => `/f/${at}`), target: name }), {
    ...unique,
    maxLength: 1,
  });
  const dropins = fc.uniqueArray(fc.record({ name: name.map((at) => `${at}.conf`), contents: name }), unique);
  const units = fc.uniqueArray(
    fc.record(
      { name: name.map((at) => `${at}.service`), enabled: fc.boolean(), contents: name, dropins },
      { requiredKeys: ['name'] },
    ),
    unique,
  );
  const users = fc.uniqueArray(
    fc.record({ name, sshAuthorizedKeys: fc.uniqueArray(name), uid: fc.nat(3) }, { requiredKeys: ['name'] }),
    unique,
  );
  const kernelArguments = fc.record({ shouldExist: fc.uniqueArray(name) });
  const config = fc
    .record({ files, links, directories, strays, units, users, kernelArguments })
    .map((parts): Partial<IgnitionConfig> => {
      const strayPaths = new Set(parts.strays.map(({ path }) => path));
      return {
        storage: {
          files: parts.files.filter(({ path }) => !strayPaths.has(path)),
          links: [...parts.links, ...parts.strays],
          directories: parts.directories,
        },
        systemd: { units: parts.units },
        passwd: { users: parts.users },
        kernelArguments: parts.kernelArguments,
      };
    });
  const machineConfigs = fc
    .array(config, { minLength: 1, maxLength: 6 })
    .map((configs) => configs.map((one, index) => machineConfig(`mc-${index}`, one)));

  test('merging entry by entry gives what Ignition gives when it merges config by config', () => {
    fc.assert(
      fc.property(machineConfigs, (sample) => {
        const [first, ...rest] = sample.map(({ spec }) => spec.config);
        const whole = mergeAll([first!, ...rest]);
        const expected = normalize({
          ...whole,
          storage: {
            ...whole.storage,
            files: (whole.storage?.files ?? []).map((one) => ({ ...one, overwrite: true })),
          },
        });
        expect(mergeConfigs(sample).config).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });

  test('every entry of the result names the MachineConfigs that say something about it, and no others', () => {
    fc.assert(
      fc.property(machineConfigs, (sample) => {
        const says = ({ spec: { config } }: MachineConfig, name: string): boolean =>
          [config.storage?.files, config.storage?.links, config.storage?.directories].some((list) =>
            list?.some(({ path }) => path === name),
          ) || [config.systemd?.units, config.passwd?.users].some((list) => list?.some((item) => item.name === name));
        for (const { name, sources } of mergeConfigs(sample).entries) {
          const expected = sample.filter((one) => says(one, name)).map(({ metadata }) => metadata.name);
          expect(sources.map((source) => source.machineConfig)).toEqual(expected);
        }
      }),
    );
  });
});
