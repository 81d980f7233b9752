import { describe, expect, test } from 'vitest';
import { nodeConfigAnnotations, poolRollbackAnnotation } from '../../contract/machine-config-node.ts';
import type { KubernetesObject } from '../../kubernetes/object.ts';
import { clusterSources, isRenderProblem } from '../../machine-config/cluster-sources.ts';
import { roleLabel } from '../../machine-config/machine-config.ts';
import { builtInPools } from '../../machine-config/pools.ts';
import { planApply } from './plan-apply.ts';
import type { PlanFacts } from './plan-facts.ts';
import { planRollback } from './plan-rollback.ts';

const apiVersion = 'machineconfiguration.openshift.io/v1';
const generatedBy = 'firstlight test';

const controllerConfig: KubernetesObject = {
  apiVersion,
  kind: 'ControllerConfig',
  metadata: { name: 'machine-config-controller' },
  spec: {
    apiServerInternalURL: 'https://api-int.demo.firstlight.test:6443',
    clusterDNSIP: '10.96.0.10',
    images: { pause: 'firstlight.local/pause:1' },
    network: { clusterNetworks: ['10.128.0.0/14'], machineNetworks: ['10.99.0.0/24'] },
    machines: { sharesHost: true },
  },
};

function machineConfig(name: string, spec: object, role = 'worker'): KubernetesObject {
  return { apiVersion, kind: 'MachineConfig', metadata: { name, labels: { [roleLabel]: role } }, spec };
}
const file = (path: string, text = 'x') => ({
  config: { ignition: { version: '3.4.0' }, storage: { files: [{ path, contents: { source: `data:,${text}` } }] } },
});

/** A cluster whose pools have been rendered, with one worker that has what its pool has. */
function cluster(machineConfigs: readonly KubernetesObject[] = []): PlanFacts {
  const pools = builtInPools as unknown as readonly KubernetesObject[];
  const bare = { machineConfigs, pools, controllerConfigs: [controllerConfig], kubeletConfigs: [] };
  const sources = clusterSources(bare, generatedBy);
  const rendered = builtInPools.map((pool) => {
    const outcome = sources.render(pool);
    if (isRenderProblem(outcome)) throw new Error(outcome.problem);
    return { pool, outcome };
  });
  const [worker = ''] = rendered
    .filter(({ pool }) => pool.metadata.name === 'worker')
    .map(({ outcome }) => outcome.name);
  return {
    sources: {
      ...bare,
      machineConfigs: [...machineConfigs, ...rendered.map(({ outcome }) => outcome.machineConfig)] as never,
      pools: rendered.map(({ pool, outcome }) => withTarget(pool as never, outcome.name)),
    },
    machineConfiguration: undefined,
    nodes: [
      {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: {
          name: 'worker-0',
          labels: { 'node-role.kubernetes.io/worker': '' },
          annotations: {
            [nodeConfigAnnotations.current]: worker,
            [nodeConfigAnnotations.desired]: worker,
            [nodeConfigAnnotations.state]: 'Done',
          },
        },
        status: { conditions: [{ type: 'Ready', status: 'True' }] },
      },
    ],
    pods: [],
    budgets: [],
  };
}

function withTarget(pool: KubernetesObject, name: string): KubernetesObject {
  return { ...pool, spec: { ...(pool['spec'] as object), configuration: { name } } };
}

const sysctl = machineConfig('99-sysctl', file('/etc/sysctl.d/99-x.conf'));
const plan = (facts: PlanFacts, ...objects: readonly KubernetesObject[]) => planApply(facts, objects, generatedBy);

describe('a plan says', () => {
  test('which pools change, by what, and which do not', () => {
    const { objects, pools } = plan(cluster(), sysctl);
    expect(objects.map(({ change }) => change)).toEqual(['added']);
    expect(pools).toMatchObject([{ pool: 'worker', order: [['worker-0']], difference: { needsReboot: false } }]);
    expect(pools[0]?.difference.changes.map(({ name, change }) => `${change} ${name}`)).toEqual([
      'added /etc/sysctl.d/99-x.conf',
    ]);
  });

  test('nothing about an object that the cluster has already', () => {
    const { objects, pools } = plan(cluster([sysctl]), sysctl);
    expect([objects[0]?.change, pools]).toEqual(['unchanged', []]);
  });

  test('that a field which left the file leaves the cluster', () => {
    const two = machineConfig('99-sysctl', { ...file('/etc/motd'), kernelType: 'default' });
    const { objects, pools } = plan(cluster([two]), sysctl);
    expect(objects[0]).toMatchObject({ change: 'changed', object: { spec: sysctl['spec'] } });
    expect(pools[0]?.difference.changes.map(({ name, change }) => `${change} ${name}`).toSorted()).toEqual([
      'added /etc/sysctl.d/99-x.conf',
      'removed /etc/motd',
    ]);
  });

  test('what the users of the cluster say about a disruption, also in the same file', () => {
    const motd = machineConfig('99-motd', file('/etc/motd'));
    expect(plan(cluster(), motd).pools[0]?.difference.needsReboot).toBe(true);
    const policies: KubernetesObject = {
      apiVersion: 'operator.openshift.io/v1',
      kind: 'MachineConfiguration',
      metadata: { name: 'cluster' },
      spec: { nodeDisruptionPolicy: { files: [{ path: '/etc/motd', actions: [{ type: 'None' }] }] } },
    };
    expect(plan(cluster(), motd, policies).pools[0]?.difference.needsReboot).toBe(false);
  });

  test('that nobody selects a MachineConfig', () => {
    const lost = { ...sysctl, metadata: { name: '99-sysctl' } };
    const { pools, warnings } = plan(cluster(), lost);
    expect([pools.length, warnings.length]).toEqual([0, 1]);
    expect(warnings[0]).toContain('no pool selects the MachineConfig 99-sysctl');
  });
});

describe('a plan refuses', () => {
  test('what the platform cannot honour, with the name of the MachineConfig', () => {
    const kernel = machineConfig('99-kernel', { kernelArguments: ['quiet'] });
    expect(() => plan(cluster(), kernel)).toThrow(/kernelArguments cannot be honoured.*99-kernel/);
  });

  test('what machines that exist cannot be brought to', () => {
    const user = machineConfig('99-user', {
      config: { ignition: { version: '3.4.0' }, passwd: { users: [{ name: 'mallory' }] } },
    });
    expect(() => plan(cluster(), user)).toThrow(/99-user/);
  });

  test('nothing because of a pool that was broken before', () => {
    const kernel = machineConfig('99-kernel', { kernelArguments: ['quiet'] }, 'master');
    const facts = cluster();
    const broken = {
      ...facts,
      sources: { ...facts.sources, machineConfigs: [...facts.sources.machineConfigs, kernel] },
    };
    const { pools, warnings } = plan(broken, sysctl);
    expect(pools.map(({ pool }) => pool)).toEqual(['worker']);
    expect(warnings.join()).toMatch(/pool master cannot be rendered already/);
  });
});

describe('a roll-back', () => {
  const renderedName = (facts: PlanFacts): string => {
    const [pool] = plan(facts, sysctl).pools;
    return pool?.to ?? '';
  };

  test('leads to what all nodes had last, and holds while the MachineConfigs stay', () => {
    const before = cluster();
    const [had = ''] = before.nodes.map(({ metadata }) => metadata.annotations?.[nodeConfigAnnotations.current] ?? '');
    const bad = renderedName(before);
    const after = cluster([sysctl]);
    const machineConfigs = [...after.sources.machineConfigs, ...before.sources.machineConfigs];
    const pools = after.sources.pools.map((pool) => ({ ...pool, status: { configuration: { name: had } } }));
    const facts = { ...after, sources: { ...after.sources, machineConfigs, pools } };
    const { plan: planned, annotation } = planRollback(facts, { pool: 'worker', to: undefined, generatedBy });
    expect(planned).toMatchObject({ pool: 'worker', from: bad, to: had });
    expect(annotation).toEqual({ to: had, insteadOf: bad });

    const annotations = { [poolRollbackAnnotation]: JSON.stringify(annotation) };
    const rolledBack = pools.map((pool) =>
      pool.metadata.name === 'worker'
        ? { ...withTarget(pool, had), metadata: { ...pool.metadata, annotations } }
        : pool,
    );
    const held = { ...facts, sources: { ...facts.sources, pools: rolledBack } };
    expect(plan(held, sysctl).pools).toEqual([]);
    // Forward again: the annotation goes.
    expect(planRollback(held, { pool: 'worker', to: `${bad.slice(0, -20)}…`, generatedBy }).annotation).toBeNull();
  });

  test('of a pool that has had one configuration only is refused', () => {
    expect(() => planRollback(cluster(), { pool: 'worker', to: undefined, generatedBy })).toThrow(
      'the pool worker has had no other configuration',
    );
    expect(() => planRollback(cluster(), { pool: 'worker', to: 'rendered-worker-none', generatedBy })).toThrow(
      'the pool worker has no configuration rendered-worker-none',
    );
  });
});
