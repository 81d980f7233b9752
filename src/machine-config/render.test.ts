import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { IgnitionConfig } from '../ignition/config.ts';
import { machineConfigErrors } from './errors.ts';
import { explainNamed } from './explain.ts';
import type { MachineConfig, MachineConfigSpec } from './machine-config.ts';
import { configSpec, machineConfigPoolSchema, roleLabel } from './machine-config.ts';
import { allPools, builtInPools } from './pools.ts';
import { renderPool } from './render.ts';

interface Sample extends Partial<Omit<MachineConfigSpec, 'config'>> {
  readonly name: string;
  readonly role?: string;
  readonly config?: Partial<IgnitionConfig>;
  readonly isGenerated?: boolean;
}

function machineConfig({ name, role = 'worker', config = {}, isGenerated = false, ...spec }: Sample): MachineConfig {
  const generated = { 'machineconfiguration.openshift.io/generated-by-controller-version': 'test' };
  return {
    metadata: { name, labels: { [roleLabel]: role }, annotations: isGenerated ? generated : {} },
    spec: { ...configSpec({ ignition: { version: '3.5.0' }, ...config }), ...spec },
  };
}

const withFile = (path: string, source: string): Partial<IgnitionConfig> => ({
  storage: { files: [{ path, contents: { source } }] },
});

const infra = machineConfigPoolSchema.parse({
  apiVersion: 'machineconfiguration.openshift.io/v1',
  kind: 'MachineConfigPool',
  metadata: { name: 'infra' },
  spec: {
    machineConfigSelector: { matchExpressions: [{ key: roleLabel, operator: 'In', values: ['worker', 'infra'] }] },
  },
});
const worker = builtInPools.find((pool) => pool.metadata.name === 'worker')!;
const options = { generatedBy: 'test' };
const sources = (rendered: ReturnType<typeof renderPool>) => rendered.sources.map(({ metadata }) => metadata.name);

describe('a rendered configuration', () => {
  test('has the same name and bytes whatever the order of its MachineConfigs', () => {
    const someSpec = fc.record({
      name: fc.string({ minLength: 1, maxLength: 4, unit: fc.constantFrom('a', 'b', '0', '9', '-') }),
      role: fc.constantFrom('worker', 'infra'),
      config: fc.constantFrom(withFile('/a', 'data:,1'), withFile('/a', 'data:,2'), withFile('/b', 'data:,3'), {}),
      kernelArguments: fc.array(fc.constantFrom('quiet', 'nosmt'), { maxLength: 2 }),
      fips: fc.boolean(),
    });
    const sets = fc.uniqueArray(someSpec, { selector: ({ name }) => name, minLength: 1, maxLength: 8 });
    const shuffled = sets.chain((set) =>
      fc.tuple(fc.constant(set), fc.shuffledSubarray(set, { minLength: set.length })),
    );
    fc.assert(
      fc.property(shuffled, ([one, other]) => {
        const [first, second] = [one, other].map((set) => renderPool(infra, set.map(machineConfig), options));
        expect(second?.name).toBe(first?.name);
        expect(JSON.stringify(second?.machineConfig)).toBe(JSON.stringify(first?.machineConfig));
      }),
    );
  });

  test('is named after what it says and nothing else', () => {
    const base = machineConfig({ name: 'a', config: withFile('/a', 'data:,1') });
    const { name } = renderPool(worker, [base], options);
    expect(name).toMatch(/^rendered-worker-[0-9a-f]{32}$/);
    const annotated = { ...base, metadata: { ...base.metadata, annotations: { note: 'x' } } };
    expect(renderPool(worker, [annotated], { generatedBy: 'another' }).name).toBe(name);
    expect(renderPool(infra, [base], options).name).toBe(name.replace('worker', 'infra'));
    const changed = machineConfig({ name: 'a', config: withFile('/a', 'data:,2') });
    expect(renderPool(worker, [changed], options).name).not.toBe(name);
  });

  test('lets a custom pool override the worker, whatever the names', () => {
    const rendered = renderPool(
      infra,
      [
        machineConfig({ name: '50-infra-y', role: 'infra', config: withFile('/a', 'data:,infra') }),
        machineConfig({ name: '99-worker-x', config: withFile('/a', 'data:,worker') }),
        machineConfig({ name: '00-worker' }),
        machineConfig({ name: '99-master', role: 'master' }),
      ],
      options,
    );
    expect(sources(rendered)).toEqual(['00-worker', '99-worker-x', '50-infra-y']);
    expect(rendered.machineConfig.spec.config.storage?.files?.[0]?.contents?.source).toBe('data:,infra');
    expect(explainNamed(rendered, '/a')).toEqual([
      {
        kind: 'file',
        name: '/a',
        contributions: [
          { machineConfig: '99-worker-x', sets: ['contents'], overridden: [{ field: 'contents', by: '50-infra-y' }] },
          { machineConfig: '50-infra-y', sets: ['contents'], overridden: [] },
        ],
      },
    ]);
  });

  test('collects kernel arguments and extensions in merge order, and keeps repetitions', () => {
    const { spec } = renderPool(
      worker,
      [
        machineConfig({ name: 'b', kernelArguments: ['quiet', 'x=2'], extensions: ['usbguard'] }),
        machineConfig({ name: 'a', kernelArguments: ['x=1', 'quiet'], fips: true }),
      ],
      options,
    ).machineConfig;
    expect(spec).toMatchObject({
      kernelArguments: ['x=1', 'quiet', 'quiet', 'x=2'],
      extensions: ['usbguard'],
      fips: true,
    });
  });

  test('takes the last kernel type that is not the default, and the image of the last user who named one', () => {
    const { machineConfig: rendered } = renderPool(
      worker,
      [
        machineConfig({ name: 'a', kernelType: 'realtime', osImageURL: 'image-a' }),
        machineConfig({ name: 'b', kernelType: 'default' }),
        machineConfig({ name: 'c', osImageURL: 'image-of-a-generator', isGenerated: true }),
      ],
      { ...options, osImageURL: 'base-image' },
    );
    expect(rendered.spec).toMatchObject({ kernelType: 'realtime', osImageURL: 'image-a' });
    expect(rendered.metadata.annotations).toHaveProperty(
      ['machineconfiguration.openshift.io/os-image-url-overridden'],
      'true',
    );
  });
});

describe('what cannot be used is refused with the names of those who caused it', () => {
  const refusal = (call: () => unknown): Error => {
    try {
      call();
    } catch (error) {
      return error as Error;
    }
    throw new Error('it was not refused');
  };

  test('a path below a link of another MachineConfig', () => {
    const error = refusal(() =>
      renderPool(
        worker,
        [
          machineConfig({ name: 'links', config: { storage: { links: [{ path: '/opt/x', target: '/y' }] } } }),
          machineConfig({ name: 'files', config: withFile('/opt/x/z', 'data:,') }),
        ],
        options,
      ),
    );
    expect(error).toMatchObject({ code: machineConfigErrors.REFUSED.code });
    expect(error.message).toContain('from files');
  });

  test('contents that inherited the hash of the contents they replaced', () => {
    const hash = `sha256-${createHash('sha256').update('1').digest('hex')}`;
    const verified = { storage: { files: [{ path: '/a', contents: { source: 'data:,1', verification: { hash } } }] } };
    const first = machineConfig({ name: 'verified', config: verified });
    expect(() => renderPool(worker, [first], options)).not.toThrow();
    const second = machineConfig({ name: 'zz-careless', config: withFile('/a', 'data:,2') });
    const error = refusal(() => renderPool(worker, [first, second], options));
    expect(error.message).toContain('/a does not have the hash it is verified with');
    expect(error.message).toContain('verified and zz-careless');
  });

  test('kernel headers for a kernel that has none', () => {
    const pair = [
      machineConfig({ name: 'a', kernelType: 'realtime' }),
      machineConfig({ name: 'b', extensions: ['kernel-devel'] }),
    ];
    expect(refusal(() => renderPool(worker, pair, options)).message).toContain('kernel-devel');
  });

  test('more bytes than an object of the API may have, naming what is large; nearly as many are a warning', () => {
    const large = (bytes: number) => [
      machineConfig({ name: 'small', config: withFile('/small', 'data:,') }),
      machineConfig({ name: 'large', config: withFile('/large', `data:,${'x'.repeat(bytes)}`) }),
    ];
    const error = refusal(() => renderPool(worker, large(1_572_865), options));
    expect(error).toMatchObject({ code: machineConfigErrors.TOO_LARGE.code });
    expect(error.message).toMatch(/1573\d\d\d bytes.*at most 1572864; largest: \/large from large/);
    expect(renderPool(worker, large(1_300_000), options).warnings.join()).toMatch(/83 %/);
    expect(renderPool(worker, large(1_000), options).warnings).toEqual([]);
  });

  test('a pool that selects nothing, and a custom pool that does not inherit from worker', () => {
    expect(refusal(() => renderPool(worker, [], options))).toMatchObject({ code: machineConfigErrors.POOL_EMPTY.code });
    const lonely = machineConfigPoolSchema.parse({
      ...infra,
      spec: { machineConfigSelector: { matchLabels: { [roleLabel]: 'infra' } } },
    });
    expect(refusal(() => renderPool(lonely, [], options))).toMatchObject({
      code: machineConfigErrors.POOL_NOT_WORKER.code,
    });
  });
});

test('a pool of the user replaces the built-in one of its name', () => {
  const own = { ...worker, spec: { ...worker.spec, paused: true } };
  expect(allPools([own, infra]).map((pool) => [pool.metadata.name, pool.spec.paused])).toEqual([
    ['infra', false],
    ['master', false],
    ['worker', true],
  ]);
});

describe('a configuration that machines cannot be brought to', () => {
  const base = machineConfig({ name: '00-worker', config: withFile('/a', 'data:,1') });
  const replaces = renderPool(worker, [base], options).machineConfig.spec;

  test('is refused, and the MachineConfig that asks for it is named', () => {
    const disks = machineConfig({ name: '50-disks', config: { storage: { disks: [{ device: '/dev/x' }] } } });
    const users = machineConfig({ name: '60-users', config: { passwd: { users: [{ name: 'me' }] } } });
    const harmless = machineConfig({ name: '70-file', config: withFile('/b', 'data:,1') });
    const render = () => renderPool(worker, [base, disks, users, harmless], { ...options, replaces });
    expect(render).toThrow(/storage\.disks changed: .* \(from 50-disks\)\n {2}user me changed: .* \(from 60-users\)$/);
    expect(() => renderPool(worker, [base, harmless], { ...options, replaces })).not.toThrow();
  });

  test('is refused when it is the removal that cannot be done', () => {
    const grouped = { ...replaces, config: { ...replaces.config, passwd: { groups: [{ name: 'g' }] } } };
    const render = () => renderPool(worker, [base], { ...options, replaces: grouped });
    expect(render).toThrow('group g changed: groups are made at first boot (no MachineConfig has it any more)');
  });

  test('is refused for new machines too when no machine can honour it, once and with its cause', () => {
    const quiet = machineConfig({ name: '50-quiet', kernelArguments: ['quiet'] });
    const image = machineConfig({ name: '60-image', osImageURL: 'mine' });
    const machines = { sharesHost: true };
    const render = () => renderPool(worker, [base, quiet, image], { ...options, machines, replaces });
    expect(render).toThrow(/osImageURL .*\(from 60-image\)\n {2}kernelArguments .*\(from 50-quiet\)$/);
    expect(() => renderPool(worker, [base, quiet, image], options)).not.toThrow();
  });
});
