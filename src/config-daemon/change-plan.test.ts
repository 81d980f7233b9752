import { describe, expect, test } from 'vitest';
import type { IgnitionConfig } from '../ignition/config.ts';
import { inlineFile } from '../ignition/inline-contents.ts';
import { configSpec } from '../machine-config/machine-config.ts';
import { isEmptyPlan, planChange } from './change-plan.ts';

const spec = (config: Omit<IgnitionConfig, 'ignition'> = {}) =>
  configSpec({ ignition: { version: '3.5.0' }, ...config });
const file = (path: string, content: string, more: object = {}) =>
  spec({ storage: { files: [{ ...inlineFile({ path, content, mode: 0o644 }), ...more }] } });

describe('the plan of a change', () => {
  test('is empty between two configs that give the same machine', () => {
    const plain = file('/etc/a', 'text');
    const zipped = spec({
      storage: { files: [inlineFile({ path: '/etc/a', content: 'text', mode: 0o644, gzip: true })] },
    });
    expect(isEmptyPlan(planChange(plain, zipped))).toBe(true);
    // Ignition's default.
    expect(
      isEmptyPlan(
        planChange(plain, spec({ storage: { files: [{ path: '/etc/a', contents: { source: 'data:,text' } }] } })),
      ),
    ).toBe(true);
  });

  test.each([
    ['contents', file('/etc/a', 'other')],
    ['mode', file('/etc/a', 'text', { mode: 0o600 })],
    ['owner', file('/etc/a', 'text', { user: { name: 'core' } })],
  ])('writes a file whose %s changed', (_, to) => {
    expect(planChange(file('/etc/a', 'text'), to).put.map(({ path }) => path)).toEqual(['/etc/a']);
  });

  test('makes folders before what is in them', () => {
    const to = spec({
      storage: {
        files: [inlineFile({ path: '/etc/x/y', content: '', mode: 0o644 })],
        directories: [{ path: '/etc/x/' }],
      },
    });
    expect(planChange(spec(), to).put.map(({ path, kind }) => `${kind} ${path}`)).toEqual([
      'folder /etc/x',
      'file /etc/x/y',
    ]);
  });

  test('turns units into files, drop-ins and masks', () => {
    const units = [
      { name: 'a.service', enabled: true, contents: '[Service]\n', dropins: [{ name: '10-b.conf', contents: '#\n' }] },
      { name: 'c.service', mask: true },
    ];
    const plan = planChange(spec(), spec({ systemd: { units } }));
    expect(plan.put).toMatchObject([
      { kind: 'file', path: '/etc/systemd/system/a.service', mode: 0o644 },
      { kind: 'file', path: '/etc/systemd/system/a.service.d/10-b.conf', mode: 0o644 },
      { kind: 'link', path: '/etc/systemd/system/c.service', target: '/dev/null' },
    ]);
    expect(planChange(spec({ systemd: { units } }), spec()).leavingUnits).toEqual(['a.service', 'c.service']);
  });

  test('leaves out what the config server adds for each machine', () => {
    const to = spec({
      storage: { files: [inlineFile({ path: '/etc/kubernetes/kubelet-ca.crt', content: 'x', mode: 0o600 })] },
    });
    expect(isEmptyPlan(planChange(spec(), to))).toBe(true);
  });

  test('with everything looked at again, has every file and unit', () => {
    const config = spec({
      storage: { files: [inlineFile({ path: '/etc/a', content: 'text', mode: 0o644 })] },
      systemd: { units: [{ name: 'a.service', enabled: true, contents: '[Service]\n' }] },
    });
    const { put, units } = planChange(config, config, { isWhole: true });
    expect([put.length, units.length]).toEqual([2, 1]);
  });

  test.each([
    [
      'contents from elsewhere',
      spec({ storage: { files: [{ path: '/etc/a', contents: { source: 'https://a.test/b' } }] } }),
    ],
    ['a hard link', spec({ storage: { links: [{ path: '/etc/a', target: '/etc/b', hard: true }] } })],
  ])('refuses %s, which only a first boot can make, and keeps what is there', (_, config) => {
    expect(() => planChange(spec(), config)).toThrow(/\/etc\/a cannot be changed on a machine that exists/);
    expect(isEmptyPlan(planChange(config, config))).toBe(true);
  });

  test('refuses a folder where the config had a file', () => {
    const folder = spec({ storage: { directories: [{ path: '/etc/a' }] } });
    expect(() => planChange(file('/etc/a', ''), folder)).toThrow(/cannot take turns/);
  });
});
