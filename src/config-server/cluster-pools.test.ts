import { describe, expect, test } from 'vitest';
import { sampleFacts } from '../../test/oracle/machine-config-sample.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { baseMachineConfigs, clusterFactsOf, sshMachineConfig } from '../machine-config/base-machine-configs.ts';
import type { SourceObjects } from '../machine-config/cluster-sources.ts';
import {
  apiVersion,
  controllerConfigSchema,
  generatedAnnotation,
  roleLabel,
} from '../machine-config/machine-config.ts';
import { controllerConfigManifest, machineConfigManifest } from '../machine-config/manifests.ts';
import { builtInPools } from '../machine-config/pools.ts';
import { renderPool } from '../machine-config/render.ts';
import { clusterPools } from './cluster-pools.ts';

const controllerConfig = controllerConfigManifest(sampleFacts) as KubernetesObject;
const facts = controllerConfigSchema.parse(controllerConfig);
const login = machineConfigManifest(sshMachineConfig('worker', ['ssh-ed25519 AAAA a'])) as KubernetesObject;

function objects(given: Partial<SourceObjects>): SourceObjects {
  return { machineConfigs: [], pools: [], controllerConfigs: [controllerConfig], ...given };
}

function machineConfig(name: string, config: unknown, more: Partial<KubernetesObject['metadata']> = {}) {
  return {
    apiVersion,
    kind: 'MachineConfig',
    metadata: { name, labels: { [roleLabel]: 'worker' }, ...more },
    spec: { config },
  };
}

function namesOf(given: Partial<SourceObjects>): Record<string, string> {
  return Object.fromEntries(
    [...clusterPools(objects(given), 'test').pools].map(([pool, found]) => [
      pool,
      'status' in found ? `waiting: ${found.missing}` : found.metadata.name,
    ]),
  );
}

describe('what the pools of a cluster get', () => {
  test('has the name that the bootstrap machine gave it', () => {
    const configs = [
      ...baseMachineConfigs(clusterFactsOf(facts), 'another'),
      sshMachineConfig('worker', ['ssh-ed25519 AAAA a']),
    ];
    const expected = builtInPools.map((pool) => renderPool(pool, configs, { generatedBy: 'another' }).name);
    expect(Object.values(namesOf({ machineConfigs: [login] }))).toEqual(expected);
  });

  test('is not known before the facts about the cluster are', () => {
    const missing = 'waiting: the API has no ControllerConfig yet';
    expect(namesOf({ controllerConfigs: [] })).toEqual({ master: missing, worker: missing });
  });

  test('is unknown only for pools that select a MachineConfig that cannot be used, and it is named', () => {
    const broken = machineConfig('99-broken', { ignition: { version: '2.2.0' } });
    const { master, worker } = namesOf({ machineConfigs: [broken] });
    expect(master).toBe(namesOf({}).master);
    expect(worker).toMatch(/^waiting: MachineConfig 99-broken cannot be used: .*ign-converter/);
  });

  test('is known by name as long as the API has it, and only under the pool that it was rendered for', () => {
    const name = `rendered-worker-${'0'.repeat(32)}`;
    const annotations = { [generatedAnnotation]: 'test' };
    const rendered = machineConfig(name, { ignition: { version: '3.5.0' } }, { annotations });
    const pool = (of: string) => ({ apiVersion, kind: 'MachineConfigPool', metadata: { name: of }, spec: {} });
    const { named } = clusterPools(objects({ machineConfigs: [rendered], pools: [pool('worker-0')] }), 'test');
    expect(named('worker', name)?.metadata.name).toBe(name);
    expect(named('worker', name.replace('0', '1'))).toBeUndefined();
    expect(named('master', name)).toBeUndefined();
    expect(named('nobody', name)).toBeUndefined();
    expect(named('worker-0', name)).toBeUndefined();
  });

  test('is what a pool was given, where the rendered config is in the API', () => {
    const rendered = machineConfig(
      'rendered-worker-1',
      { ignition: { version: '3.2.0' } },
      {
        labels: {},
        annotations: { [generatedAnnotation]: 'x' },
      },
    );
    const [, builtIn] = builtInPools;
    const pool = (name: string): KubernetesObject => ({
      ...(builtIn as unknown as KubernetesObject),
      spec: { ...builtIn?.spec, configuration: { name } },
    });
    expect(namesOf({ machineConfigs: [rendered], pools: [pool('rendered-worker-1')] }).worker).toBe(
      'rendered-worker-1',
    );
    expect(namesOf({ machineConfigs: [rendered], pools: [pool('rendered-worker-2')] })).toEqual(namesOf({}));
  });

  test('is not that of the built-in pool when the pool of that name cannot be read', () => {
    const pool = { apiVersion, kind: 'MachineConfigPool', metadata: { name: 'worker' }, spec: { paused: 'perhaps' } };
    expect(namesOf({ pools: [pool] }).worker).toMatch(
      /^waiting: MachineConfigPool worker cannot be used: spec\.paused/,
    );
  });

  test('follows a MachineConfig that changed', () => {
    const at = (path: string): KubernetesObject =>
      machineConfig('99-motd', {
        ignition: { version: '3.2.0' },
        storage: { files: [{ path, contents: { source: 'data:,x' } }] },
      });
    const names = ['/etc/motd', '/etc/issue', '/etc/motd'].map(
      (path) => namesOf({ machineConfigs: [at(path)] }).worker,
    );
    expect(new Set(names).size).toBe(2);
    expect(names[2]).toBe(names[0]);
  });
});
