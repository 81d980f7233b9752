import { describe, expect, test } from 'vitest';
import { picture } from '../../src/config-daemon/fake-machine.ts';
import { nodeConfigAnnotations as annotation, daemonFiles } from '../../src/contract/machine-config-node.ts';
import { inlineFile } from '../../src/ignition/inline-contents.ts';
import type { KubernetesObject } from '../../src/kubernetes/object.ts';
import { ConfigMachine, renderedConfig } from './config-machine.ts';

/** No rule knows it, so it needs a reboot. */
const rebooting = '/etc/app.conf';
const quiet = '/etc/nmstate/openshift/cluster.yml';
const sysctl = '/etc/sysctl.d/50-app.conf';
const unit = { name: 'app.service', enabled: true, contents: '[Service]\nExecStart=/bin/true\n' };

const withFile = (name: string, path: string, content: string): KubernetesObject =>
  renderedConfig(name, { storage: { files: [inlineFile({ path, content, mode: 0o644 })] } });

const empty = renderedConfig('rendered-worker-0', {});

async function settledMachine(): Promise<ConfigMachine> {
  const machine = await ConfigMachine.boot(empty);
  expect(await machine.settle()).toEqual({ status: 'settled', note: 'rendered-worker-0' });
  return machine;
}

function stateOf({ annotations }: ConfigMachine): object {
  const { current, state, reason, desiredDrain } = annotation;
  return {
    current: annotations[current],
    state: annotations[state],
    reason: annotations[reason] ?? '',
    drain: annotations[desiredDrain],
  };
}

test('a new machine says what it was served, once', async () => {
  const machine = await settledMachine();
  expect(machine.annotations).toEqual({
    [annotation.current]: 'rendered-worker-0',
    [annotation.desired]: 'rendered-worker-0',
    [annotation.firstPivot]: 'rendered-worker-0',
    [annotation.state]: 'Done',
  });
  expect(await machine.files.facts(daemonFiles.nodeAnnotationsDone)).toBeDefined();
});

describe('a change', () => {
  test('that disrupts nothing is made at once, without drain or reboot', async () => {
    const machine = await settledMachine();
    machine.want(withFile('rendered-worker-1', quiet, 'a: 1\n'));
    await machine.settle();
    expect(stateOf(machine)).toEqual({ current: 'rendered-worker-1', state: 'Done', reason: '', drain: undefined });
    expect(await machine.files.readText(quiet)).toBe('a: 1\n');
    expect([machine.reboots, machine.actions]).toEqual([0, []]);
  });

  test('that a restart is enough for restarts that unit alone', async () => {
    const machine = await settledMachine();
    machine.want(withFile('rendered-worker-1', sysctl, 'vm.swappiness=1\n'));
    await machine.settle();
    expect(stateOf(machine)).toMatchObject({ current: 'rendered-worker-1', state: 'Done' });
    expect([machine.reboots, machine.actions]).toEqual([0, ['restart systemd-sysctl.service']]);
  });

  test('that needs a reboot waits for its drain, reboots once, and gives the node back', async () => {
    const machine = await settledMachine();
    machine.isDraining = false;
    machine.want(withFile('rendered-worker-1', rebooting, 'x'));
    await machine.settle();
    expect(stateOf(machine)).toMatchObject({ state: 'Working', drain: 'drain-rendered-worker-1' });
    expect(await machine.files.facts(rebooting)).toBeUndefined();
    machine.isDraining = true;
    await machine.settle();
    expect(machine.reboots).toBe(1);
    expect(stateOf(machine)).toEqual({
      current: 'rendered-worker-1',
      state: 'Done',
      reason: '',
      drain: 'uncordon-rendered-worker-1',
    });
    expect(machine.annotations[annotation.postConfigAction]).toBeUndefined();
    expect(machine.annotations[annotation.progress]).toBeUndefined();
  });

  test('that waits for its drain is given up when another config is wanted', async () => {
    const machine = await settledMachine();
    machine.isDraining = false;
    machine.want(withFile('rendered-worker-1', rebooting, 'x'));
    await machine.settle();
    machine.want(empty);
    machine.isDraining = true;
    await machine.settle();
    expect(stateOf(machine)).toMatchObject({
      current: 'rendered-worker-0',
      state: 'Done',
      drain: 'uncordon-rendered-worker-0',
    });
    expect(machine.reboots).toBe(0);
  });

  test('that has begun ends while the API is away, and is reported later', async () => {
    const machine = await settledMachine();
    machine.want(withFile('rendered-worker-1', rebooting, 'x'));
    for (let run = 0; run < 60 && machine.reboots === 0; run += 1) {
      await machine.step();
      if ((await machine.files.facts(rebooting)) !== undefined) machine.isApiUp = false;
    }
    expect(machine.reboots).toBe(1);
    await machine.settle();
    expect(stateOf(machine)).toMatchObject({ current: 'rendered-worker-0', state: 'Working' });
    expect(JSON.parse(await machine.files.readText(daemonFiles.currentConfig))).toMatchObject({
      metadata: { name: 'rendered-worker-1' },
    });
    machine.isApiUp = true;
    await machine.settle();
    expect(stateOf(machine)).toMatchObject({ current: 'rendered-worker-1', state: 'Done' });
  });

  test('that restarts the agent is ended by the next one', async () => {
    const machine = await settledMachine();
    const contents = '[Service]\nExecStart=/usr/local/bin/firstlight agent\n';
    machine.want(
      renderedConfig('rendered-worker-1', { systemd: { units: [{ name: 'firstlight-agent.service', contents }] } }),
    );
    await machine.settle();
    expect(machine.actions).toEqual(['restart firstlight-agent.service']);
    expect(stateOf(machine)).toMatchObject({ current: 'rendered-worker-1', state: 'Done' });
  });

  test('to a config that is not in the API is Degraded, and made when it comes', async () => {
    const machine = await settledMachine();
    const config = withFile('rendered-worker-1', quiet, 'a: 1\n');
    machine.want(config);
    machine.configs.delete('rendered-worker-1');
    await machine.settle();
    expect(stateOf(machine)).toMatchObject({
      state: 'Degraded',
      reason: 'there is no MachineConfig rendered-worker-1 in the API',
    });
    machine.configs.set('rendered-worker-1', config);
    await machine.settle();
    expect(stateOf(machine)).toMatchObject({ current: 'rendered-worker-1', state: 'Done' });
  });

  test('that no machine can make is Unreconcilable and changes nothing', async () => {
    const machine = await settledMachine();
    const before = picture(machine.agent.host);
    machine.want(renderedConfig('rendered-worker-1', { passwd: { groups: [{ name: 'team' }] } }));
    await machine.settle();
    expect(stateOf(machine)).toMatchObject({ current: 'rendered-worker-0', state: 'Unreconcilable' });
    expect(machine.annotations[annotation.reason]).toContain('group team changed');
    const { [`${daemonFiles.stateFolder}/state.json`]: _, ...after } = picture(machine.agent.host);
    expect(after).toMatchObject(before);
  });
});

describe('a unit that does not start', () => {
  test('is undone with a second reboot, Degraded with its name, and not tried again', async () => {
    const machine = await settledMachine();
    machine.broken.add('app.service');
    machine.want(renderedConfig('rendered-worker-1', { systemd: { units: [unit] } }));
    await machine.settle();
    expect(stateOf(machine)).toEqual({
      current: 'rendered-worker-0',
      state: 'Degraded',
      reason: 'rendered-worker-1 was undone: app.service is failed',
      drain: 'uncordon-rendered-worker-0',
    });
    expect(machine.reboots).toBe(2);
    expect(await machine.files.facts('/etc/systemd/system/app.service')).toBeUndefined();
    await machine.settle();
    expect(machine.reboots).toBe(2);
    machine.want(empty);
    await machine.settle();
    expect(stateOf(machine)).toMatchObject({ current: 'rendered-worker-0', state: 'Done', reason: '' });
  });

  test('that did not work before either says nothing about the change', async () => {
    const machine = await settledMachine();
    machine.want(renderedConfig('rendered-worker-1', { systemd: { units: [unit] } }));
    await machine.settle();
    machine.broken.add('app.service');
    const storage = { files: [inlineFile({ path: quiet, content: 'a: 1\n', mode: 0o644 })] };
    machine.want(renderedConfig('rendered-worker-2', { systemd: { units: [unit] }, storage }));
    await machine.settle();
    expect(stateOf(machine)).toMatchObject({ current: 'rendered-worker-2', state: 'Done' });
  });
});

describe('drift', () => {
  async function machineWithFile(): Promise<ConfigMachine> {
    const machine = await settledMachine();
    machine.want(withFile('rendered-worker-1', quiet, 'a: 1\n'));
    await machine.settle();
    await machine.files.setMode(quiet, 0o600);
    // As after a hint of a watch, of which the fake files have none.
    machine.restartAgent();
    return machine;
  }

  test('is Degraded with path and difference, and Done again when it is mended', async () => {
    const machine = await machineWithFile();
    await machine.settle();
    expect(stateOf(machine)).toMatchObject({ state: 'Degraded' });
    expect(machine.annotations[annotation.reason]).toBe(`mode mismatch for file ${quiet}: 0600, should be 0644`);
    await machine.files.setMode(quiet, 0o644);
    machine.restartAgent();
    await machine.settle();
    expect(stateOf(machine)).toMatchObject({ state: 'Done', reason: '' });
  });

  test('refuses a change, unless a person forces it', async () => {
    const machine = await machineWithFile();
    machine.want(withFile('rendered-worker-2', quiet, 'a: 2\n'));
    await machine.settle();
    expect(stateOf(machine)).toMatchObject({ current: 'rendered-worker-1', state: 'Degraded' });
    await machine.files.write(daemonFiles.force, '');
    await machine.settle();
    expect(stateOf(machine)).toMatchObject({ current: 'rendered-worker-2', state: 'Done' });
    expect(machine.reboots).toBe(1);
    expect(await machine.files.facts(daemonFiles.force)).toBeUndefined();
  });

  test('is written back where the pool says so', async () => {
    const machine = await machineWithFile();
    machine.annotate(annotation.driftPolicy, 'Revert');
    await machine.settle();
    expect((await machine.files.facts(quiet))?.mode).toBe(0o644);
    expect(stateOf(machine)).toMatchObject({ current: 'rendered-worker-1', state: 'Done' });
  });
});

describe('killed at any change of the disk', () => {
  const target = renderedConfig('rendered-worker-1', {
    storage: { files: [rebooting, quiet].map((path) => inlineFile({ path, content: 'x', mode: 0o600 })) },
    systemd: { units: [unit] },
  });

  async function endOf(crashAfter: number, isBroken: boolean): Promise<{ machine: ConfigMachine; isCut: boolean }> {
    const machine = await settledMachine();
    if (isBroken) machine.broken.add('app.service');
    machine.want(target);
    machine.disk.crashAt = machine.disk.changes + crashAfter;
    await machine.settle();
    const isCut = machine.disk.crashAt === undefined;
    delete machine.disk.crashAt;
    return { machine, isCut };
  }

  test.each([
    { title: 'it has the new config', isBroken: false, name: 'rendered-worker-1', state: 'Done' },
    { title: 'a broken one is undone', isBroken: true, name: 'rendered-worker-0', state: 'Degraded' },
  ])('$title', async ({ isBroken, name, state }) => {
    for (let crashAfter = 1; ; crashAfter += 1) {
      const { machine, isCut } = await endOf(crashAfter, isBroken);
      expect(stateOf(machine), `killed at change ${crashAfter}`).toMatchObject({ current: name, state });
      const isThere = (await machine.files.facts(rebooting)) !== undefined;
      expect(isThere, `killed at change ${crashAfter}`).toBe(!isBroken);
      if (!isCut) return;
    }
  });
});
