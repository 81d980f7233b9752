import { describe, expect, test } from 'vitest';
import { bootkubeUnit, bootstrapUnits, rmAssetsUnit, tectonicUnit } from './bootstrap-units.ts';
import { ignitionUnit } from './ignition-unit.ts';
import { agentUnit, containerdUnit, controlPlaneUnit, kubeletUnit } from './node-units.ts';
import type { ServiceUnit } from './unit.ts';
import { dropinText, unitText } from './unit.ts';
import { commandWord, lineValue, quotedWord, specifier, splitVariable, variable } from './unit-escape.ts';

const sample: ServiceUnit = {
  name: 'sample.service',
  why: 'Shows every shape a directive can have.',
  isEnabled: true,
  unit: {
    Description: '100 % sure',
    After: ['a.service', 'b.service'],
    ConditionPathExists: [
      { path: '/there' },
      { path: '/not there', isNegated: true },
      { path: '/or', isNegated: true, isAlternative: true },
    ],
  },
  service: {
    Type: 'oneshot',
    RemainAfterExit: true,
    Environment: { PLAIN: 'x', SPACED: 'a "b" c', HOME_IS: '$HOME' },
    EnvironmentFile: [{ path: '/must' }, { path: '/may', isOptional: true }],
    PassEnvironment: ['http_proxy', 'no_proxy'],
    ExecStartPre: [{ program: '/bin/true', args: [], mayFail: true }],
    ExecStart: { program: '/bin/echo', args: ['a b', '', '$5', ['--name=', variable('NAME')], splitVariable('MORE')] },
    ExecStop: [{ program: '/bin/echo', args: ['bye'] }],
    RestartSec: 1,
  },
  install: { WantedBy: ['multi-user.target', 'kubelet.service'] },
};

describe('a unit', () => {
  test('is written section by section, each directive in the order it was given', () => {
    expect(unitText(sample)).toBe(`# Shows every shape a directive can have.

[Unit]
Description=100 %% sure
After=a.service b.service
ConditionPathExists=/there
ConditionPathExists=!/not there
ConditionPathExists=|!/or

[Service]
Type=oneshot
RemainAfterExit=yes
Environment=PLAIN=x
Environment="SPACED=a \\"b\\" c"
Environment=HOME_IS=$HOME
EnvironmentFile=/must
EnvironmentFile=-/may
PassEnvironment=http_proxy no_proxy
ExecStartPre=-/bin/true
ExecStart=/bin/echo "a b" "" $$5 --name=\${NAME} $MORE
ExecStop=/bin/echo bye
RestartSec=1

[Install]
WantedBy=multi-user.target kubelet.service
`);
  });

  test('says in its Ignition form whether it is enabled, also when it is not', () => {
    expect(ignitionUnit(tectonicUnit)).toMatchObject({ name: 'tectonic.service', enabled: false });
    expect(ignitionUnit(bootkubeUnit)).toMatchObject({ name: 'bootkube.service', enabled: true });
  });

  test('can be extended by a drop-in that only says what differs', () => {
    expect(dropinText({ service: { Environment: { A: 'b' } } })).toBe('[Service]\nEnvironment=A=b\n');
  });
});

describe('escaping', () => {
  test.each([
    ['plain', 'plain'],
    ['', '""'],
    ['two words', '"two words"'],
    ["it's", `"it's"`],
    ['back\\slash', '"back\\\\slash"'],
    ['100%', '100%%'],
    ['$HOME', '$$HOME'],
    ['line\nbreak', '"line\\nbreak"'],
    ['\u0007', '"\\x07"'],
    [';', '";"'],
    ['a;b', '"a;b"'],
    ['é', 'é'],
  ])('of the argument %j is %s', (text, expected) => {
    expect(commandWord(text)).toBe(expected);
  });

  test('leaves variables and specifiers that were asked for', () => {
    expect(commandWord(['--host=', specifier('H'), '/', variable('X'), ' %'])).toBe('"--host=%H/${X} %%"');
    expect(quotedWord('A=$B')).toBe('A=$B');
  });

  test('refuses what a unit cannot hold', () => {
    expect(() => lineValue('two\nlines')).toThrow('one line');
    expect(() => lineValue('ends with \\')).toThrow('continue');
    expect(() => commandWord('nul\0')).toThrow('NUL');
    expect(() => variable('1X')).toThrow('variable name');
    expect(() => specifier('HH')).toThrow('one letter');
  });
});

describe('the units of a machine', () => {
  test('restart the kubelet always, and start it at every boot, with the environment file of the seed', () => {
    const kubelet = kubeletUnit({ mode: 'cluster' });
    expect(kubelet.service.Restart).toBe('always');
    expect(kubelet.install?.WantedBy).toEqual(['multi-user.target']);
    expect(unitText(kubelet)).toContain('EnvironmentFile=/etc/kubernetes/kubelet.env\n');
  });

  test('end the control plane of a machine that goes down after the kubelet and before containerd', () => {
    const { unit, service, install } = controlPlaneUnit;
    // What starts first is stopped last.
    expect(unit.After).toContain(containerdUnit.name);
    expect(unit.Before).toContain(kubeletUnit({ mode: 'cluster' }).name);
    expect(unit.After).toContain('network-online.target');
    expect(unitText(controlPlaneUnit)).toContain('ExecStop=/usr/local/bin/firstlight control-plane stop\n');
    // systemd stops only what is active, so it must be active from the boot on.
    expect([service.Type, service.RemainAfterExit, install?.WantedBy]).toEqual([
      'oneshot',
      true,
      ['multi-user.target'],
    ]);
  });

  test('leave the control plane alone when containerd, kubelet or agent are restarted', () => {
    expect(unitText(controlPlaneUnit)).not.toMatch(/^(?:Requires|Requisite|BindsTo|PartOf|Conflicts)=/m);
    for (const unit of [containerdUnit, kubeletUnit({ mode: 'cluster' }), agentUnit]) {
      expect(unitText(unit)).not.toContain(controlPlaneUnit.name);
    }
  });

  test('keep a standalone kubelet away from every API server', () => {
    expect(unitText(kubeletUnit({ mode: 'standalone' }))).not.toContain('kubeconfig');
  });

  test('chain the bootstrap by starting the next link after success, never by requiring the one before', () => {
    const after = (unit: ServiceUnit) => unit.service.ExecStartPost?.map((command) => command.args.at(-1)) ?? [];
    expect([bootkubeUnit, tectonicUnit, rmAssetsUnit].map(after)).toEqual([
      ['tectonic.service'],
      ['rm-assets.service'],
      [],
    ]);
    expect(bootstrapUnits.filter((unit) => unit.unit.Requires !== undefined)).toEqual([]);
  });
});
