import { describe, expect, test } from 'vitest';
import { diffSpecs } from './diff.ts';
import { actionText } from './disruption.ts';
import { disruptionPolicies } from './disruption-policies.ts';
import type { MachineConfigSpec } from './machine-config.ts';
import { configSpec } from './machine-config.ts';

const object = (nodeDisruptionPolicy: unknown): unknown => ({
  apiVersion: 'operator.openshift.io/v1',
  kind: 'MachineConfiguration',
  metadata: { name: 'cluster' },
  spec: { managementState: 'Managed', nodeDisruptionPolicy },
});
const empty = configSpec({ ignition: { version: '3.5.0' } });
const files = (...paths: readonly string[]): MachineConfigSpec =>
  configSpec({ ignition: { version: '3.5.0' }, storage: { files: paths.map((path) => ({ path })) } });
const none = { type: 'None' };
const restartApp = { type: 'Restart', restart: { serviceName: 'app.service' } };

function actionsFor(policy: unknown, after: MachineConfigSpec): readonly string[] {
  return diffSpecs(empty, after, disruptionPolicies(object(policy))).actions.map(actionText);
}

describe('the disruption policies of users', () => {
  test('decide about a file, a folder and everything below it', () => {
    const policy = { files: [{ path: '/etc/app/', actions: [restartApp] }] };
    expect(actionsFor(policy, files('/etc/app/a/b.conf'))).toEqual(['systemctl restart app.service']);
    expect(actionsFor(policy, files('/etc/app'))).toEqual(['systemctl restart app.service']);
    expect(actionsFor(policy, files('/etc/application'))).toEqual(['reboot']);
  });

  test('replace the rule for the same path, and lose against a longer path', () => {
    const policy = {
      files: [
        { path: '/etc/sysctl.d', actions: [none] },
        { path: '/etc', actions: [restartApp] },
      ],
    };
    expect(actionsFor(policy, files('/etc/sysctl.d/x'))).toEqual([]);
    expect(actionsFor(policy, files('/etc/containerd/config.toml'))).toEqual(['systemctl restart containerd.service']);
    expect(actionsFor(policy, files('/etc/other'))).toEqual(['systemctl restart app.service']);
  });

  test('decide about units and about SSH keys', () => {
    const reload = { type: 'Reload', reload: { serviceName: 'app.service' } };
    const policy = {
      units: [{ name: 'app.service', actions: [{ type: 'DaemonReload' }, reload] }],
      sshkey: { actions: [{ type: 'Drain' }] },
    };
    const after = configSpec({
      ignition: { version: '3.5.0' },
      passwd: { users: [{ name: 'core', sshAuthorizedKeys: ['a'] }] },
      systemd: { units: [{ name: 'app.service', contents: '[Service]' }] },
    });
    expect(actionsFor(policy, after)).toEqual(['drain', 'systemctl daemon-reload', 'systemctl reload app.service']);
  });

  test('ask for a drain without a reboot, and a reboot needs one as well', () => {
    const drained = disruptionPolicies(object({ files: [{ path: '/etc/a', actions: [{ type: 'Drain' }] }] }));
    expect(diffSpecs(empty, files('/etc/a'), drained)).toMatchObject({ needsDrain: true, needsReboot: false });
    expect(diffSpecs(empty, files('/etc/b'), drained)).toMatchObject({ needsDrain: true, needsReboot: true });
    expect(diffSpecs(empty, files('/etc/sysctl.d/b'), drained)).toMatchObject({ needsDrain: false });
  });

  test('are the same actions once, and a reboot makes the others unnecessary', () => {
    const policy = { files: [{ path: '/etc/app', actions: [restartApp] }] };
    expect(actionsFor(policy, files('/etc/app/a', '/etc/app/b'))).toEqual(['systemctl restart app.service']);
    expect(actionsFor(policy, files('/etc/app/a', '/etc/x'))).toEqual(['reboot']);
  });

  test('are none where there is no object, or an empty one', () => {
    expect(disruptionPolicies(undefined)).toEqual({ files: [], units: [], sshKeys: undefined });
    expect(disruptionPolicies(object(undefined))).toEqual({ files: [], units: [], sshKeys: undefined });
  });

  test.each<[string, unknown, RegExp]>([
    ['an action without its unit', { files: [{ path: '/a', actions: [{ type: 'Restart' }] }] }, /actions.0.restart/],
    ['a reboot beside something else', { files: [{ path: '/a', actions: [{ type: 'Reboot' }, none] }] }, /stand alone/],
    ['a relative path', { files: [{ path: 'a', actions: [none] }] }, /files.0.path: is no absolute path/],
    ['an unknown action', { units: [{ name: 'a.service', actions: [{ type: 'Explode' }] }] }, /units.0.actions.0.type/],
    ['an option in place of a unit', { units: [{ name: '--now', actions: [none] }] }, /units.0.name: is no name/],
  ])('are refused as a whole for %s', (_, policy, message) => {
    expect(() => disruptionPolicies(object(policy))).toThrow(message);
  });
});
