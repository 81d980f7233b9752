import { describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { sampleFacts } from '../../test/oracle/machine-config-sample.ts';
import { kubeletConfiguration } from '../contract/machine-paths.ts';
import { decodeDataUrl } from '../ignition/data-url.ts';
import { baseMachineConfigs } from './base-machine-configs.ts';
import { generateKubeletConfigs, type KubeletConfigInput } from './generate-kubelet-configs.ts';
import { type KubeletConfig, kubeletConfigSchema } from './kubelet-config.ts';
import { apiVersion, type MachineConfig, machineConfigPoolSchema, roleLabel } from './machine-config.ts';
import { allPools } from './pools.ts';
import { renderPool } from './render.ts';

const base = baseMachineConfigs(sampleFacts, 'test');
const infra = machineConfigPoolSchema.parse({
  apiVersion,
  kind: 'MachineConfigPool',
  metadata: { name: 'infra', labels: { tier: 'infra' } },
  spec: {
    machineConfigSelector: { matchExpressions: [{ key: roleLabel, operator: 'In', values: ['worker', 'infra'] }] },
  },
});
const workers = { 'pools.operator.machineconfiguration.openshift.io/worker': '' };
const masters = { 'pools.operator.machineconfiguration.openshift.io/master': '' };

function kubeletConfig(name: string, spec: object, matchLabels: Record<string, string> = workers): KubeletConfig {
  return kubeletConfigSchema.parse({
    apiVersion,
    kind: 'KubeletConfig',
    metadata: { name },
    spec: { machineConfigPoolSelector: { matchLabels }, ...spec },
  });
}

function generate(kubeletConfigs: readonly KubeletConfig[], more: Partial<KubeletConfigInput> = {}) {
  const input = { pools: allPools([infra]), machineConfigs: base, generatedBy: 'test', sharesHost: false, ...more };
  return generateKubeletConfigs({ kubeletConfigs, ...input });
}

function kubeletFile(machineConfigs: readonly MachineConfig[], name: string): Readonly<Record<string, unknown>> {
  const found = machineConfigs.find(({ metadata }) => metadata.name === name);
  const file = found?.spec.config.storage?.files?.find(({ path }) => path === kubeletConfiguration);
  const decoded = decodeDataUrl(file?.contents?.source ?? '');
  if (decoded.status === 'malformed') throw new Error(`${name} has no kubelet configuration`);
  return parseYaml(Buffer.from(decoded.url.bytes).toString('utf8')) as Readonly<Record<string, unknown>>;
}

function problemsOf(spec: object, matchLabels?: Record<string, string>, more?: Partial<KubeletConfigInput>) {
  return generate([kubeletConfig('mine', spec, matchLabels)], more).results[0]?.problems;
}

describe('a KubeletConfig', () => {
  test('becomes a MachineConfig of each pool that it selects: the defaults with its own fields in them', () => {
    const crashLoopBackOff = { maxContainerRestartPeriod: '1m' };
    const { machineConfigs, results } = generate([
      kubeletConfig('mine', {
        kubeletConfig: { maxPods: 77, serializeImagePulls: true, crashLoopBackOff },
        logLevel: 6,
      }),
    ]);
    expect(results).toEqual([
      { kubeletConfig: 'mine', pools: ['worker'], machineConfigs: ['99-worker-generated-kubelet'], problems: [] },
    ]);
    const { maxPods: _none, ...defaults } = kubeletFile(base, '01-worker-kubelet');
    expect(kubeletFile(machineConfigs, '99-worker-generated-kubelet')).toEqual({
      ...defaults,
      maxPods: 77,
      serializeImagePulls: true,
      crashLoopBackOff,
      logging: { verbosity: 6 },
    });
  });

  test('reaches custom pools: one of worker by inheritance, one of their own last', () => {
    const configs = [
      kubeletConfig('for-workers', { kubeletConfig: { maxPods: 10 } }),
      kubeletConfig('for-infra', { kubeletConfig: { maxPods: 20 } }, { tier: 'infra' }),
    ];
    const maxPodsOf = (kubeletConfigs: readonly KubeletConfig[]): unknown => {
      const { machineConfigs } = generate(kubeletConfigs);
      const { machineConfig } = renderPool(infra, [...base, ...machineConfigs], { generatedBy: 'test' });
      return kubeletFile(
        [{ ...machineConfig, metadata: { ...machineConfig.metadata, labels: {} } }],
        machineConfig.metadata.name,
      )['maxPods'];
    };
    expect(maxPodsOf(configs.slice(0, 1))).toBe(10);
    expect(maxPodsOf(configs)).toBe(20);
  });

  test('keeps the name of its MachineConfig when another one comes or goes', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((name) => kubeletConfig(name, { kubeletConfig: { maxPods: 9 } })) as [
      KubeletConfig,
      KubeletConfig,
      KubeletConfig,
    ];
    const first = generate([b, c]);
    const namesOf = (results: typeof first.results): unknown =>
      Object.fromEntries(results.map(({ kubeletConfig: name, machineConfigs }) => [name, machineConfigs[0]]));
    expect(namesOf(first.results)).toEqual({ b: '99-worker-generated-kubelet', c: '99-worker-generated-kubelet-1' });
    const later = generate([a, c], { machineConfigs: [...base, ...first.machineConfigs] });
    expect(namesOf(later.results)).toEqual({ a: '99-worker-generated-kubelet-2', c: '99-worker-generated-kubelet-1' });
  });

  test('is refused as the eleventh of a pool', () => {
    const many = Array.from({ length: 11 }, (_, index) => kubeletConfig(`k${index + 10}`, {}));
    const { machineConfigs, results } = generate(many);
    expect(machineConfigs).toHaveLength(10);
    expect(results.at(-1)?.problems).toEqual(['the pool worker has ten KubeletConfigs already']);
  });

  test('that cannot be used any more leaves what was made from it', () => {
    const { machineConfigs } = generate([kubeletConfig('mine', { kubeletConfig: { maxPods: 77 } })]);
    const broken = kubeletConfig('mine', { kubeletConfig: { maxPods: 'many' } });
    const after = generate([broken], { machineConfigs: [...base, ...machineConfigs] });
    expect(after.machineConfigs).toEqual(machineConfigs);
    expect(after.results[0]?.problems).toEqual(['kubeletConfig.maxPods has to be a number']);
  });

  test('can end static pods of workers, and never those of the control plane', () => {
    const { machineConfigs } = generate([kubeletConfig('mine', { kubeletConfig: { staticPodPath: '' } })]);
    expect(kubeletFile(machineConfigs, '99-worker-generated-kubelet')).not.toHaveProperty('staticPodPath');
    expect(problemsOf({ kubeletConfig: { staticPodPath: '' } }, masters)?.[0]).toContain('the control plane');
    expect(problemsOf({ kubeletConfig: { staticPodPath: '/x' } })?.[0]).toContain('can only be empty');
  });

  test.each([
    ['no pool', {}, { tier: 'none' }, 'selects no pool'],
    ['a field of the cluster', { kubeletConfig: { clusterDNS: ['10.0.0.1'] } }, workers, 'the cluster decides it'],
    ['feature gates', { kubeletConfig: { featureGates: {} } }, workers, 'install-config'],
    ['a field of the machine', { kubeletConfig: { cgroupDriver: 'cgroupfs' } }, workers, 'each machine finds it out'],
    ['the runtime', { kubeletConfig: { containerRuntimeEndpoint: 'unix:///x' } }, workers, 'could leave its cluster'],
    ['a misspelled field', { kubeletConfig: { maxpod: 9 } }, workers, 'did you mean maxPods?'],
    ['a duration without unit', { kubeletConfig: { syncFrequency: '10' } }, workers, 'a duration such as'],
    ['sizes that nothing here computes', { autoSizingReserved: true }, workers, 'systemReserved'],
    ['a TLS profile', { tlsSecurityProfile: { type: 'Old' } }, workers, 'tlsMinVersion'],
  ])('is refused for %s', (_, spec, labels, message) => {
    expect(problemsOf(spec, labels)).toEqual([expect.stringContaining(message)]);
  });

  test('cannot set limits of a disk that belongs to the host', () => {
    const spec = { kubeletConfig: { evictionHard: { 'nodefs.available': '10%' } } };
    expect(problemsOf(spec, workers, { sharesHost: true })?.[0]).toContain('share the disk of their host');
    expect(problemsOf(spec, workers)).toEqual([]);
  });
});
