// Rules for a MachineConfig beyond what Ignition checks. They are the same for a MachineConfig from a file, the API or
// our own generators.
import { daemonFiles } from '../contract/machine-config-node.ts';
import type { FieldPath } from '../source-text/field-path.ts';
import type { MachineConfigSpec } from './machine-config.ts';
import { unitFindings } from './unit-mistakes.ts';

export interface SpecMistake {
  /** Below `spec`. */
  readonly path: FieldPath;
  readonly severity: 'error' | 'warning';
  readonly message: string;
}

export const knownExtensions = [
  'ipsec',
  'kerberos',
  'kernel-devel',
  'sandboxed-containers',
  'sysstat',
  'two-node-ha',
  'usbguard',
] as const;

/** This file switches the checks of the daemon off, so that a person decides about it each time. */
const forbiddenPaths = new Set<string>([daemonFiles.force]);

export function specMistakes(spec: MachineConfigSpec): readonly SpecMistake[] {
  return [...referenceMistakes(spec), ...extensionMistakes(spec), ...fileMistakes(spec), ...systemdMistakes(spec)];
}

function error(path: FieldPath, message: string): SpecMistake {
  return { severity: 'error', path, message };
}

/** A replacement would take the place of the whole rendered configuration: every other MachineConfig would be lost. */
function referenceMistakes({ config }: MachineConfigSpec): readonly SpecMistake[] {
  const path = ['config', 'ignition', 'config'];
  const { replace, merge = [] } = config.ignition.config ?? {};
  const isReplaced = replace?.source !== undefined;
  return [
    ...(isReplaced ? [error([...path, 'replace'], 'would replace what all other MachineConfigs say')] : []),
    ...merge.map((_, index): SpecMistake => {
      const message = 'is fetched at first boot only; what it brings is unknown to rendering, explain and diff';
      return { severity: 'warning', path: [...path, 'merge', index], message };
    }),
  ];
}

function extensionMistakes(spec: MachineConfigSpec): readonly SpecMistake[] {
  return spec.extensions.flatMap((extension, index) =>
    knownExtensions.some((known) => known === extension)
      ? []
      : [error(['extensions', index], `unknown extension ${extension}; known: ${knownExtensions.join(', ')}`)],
  );
}

function fileMistakes({ config }: MachineConfigSpec): readonly SpecMistake[] {
  return (config.storage?.files ?? []).flatMap((file, index): SpecMistake[] => {
    const path = ['config', 'storage', 'files', index];
    if (forbiddenPaths.has(file.path)) return [error(path, `${file.path} cannot be managed by a MachineConfig`)];
    if (file.mode === undefined || file.mode <= 0o777) return [];
    return [error([...path, 'mode'], `mode ${octal(file.mode)} of ${file.path} is above 0777`)];
  });
}

function systemdMistakes({ config }: MachineConfigSpec): readonly SpecMistake[] {
  return (config.systemd?.units ?? []).flatMap((unit, index) => {
    const path = ['config', 'systemd', 'units', index];
    const dropins = unit.dropins ?? [];
    const { mistakes, missing } = unitFindings(unit.name, unit.contents ?? '');
    const incomplete = dropins.length > 0 ? [] : missing;
    return [
      ...mistakes.map((mistake) => error([...path, 'contents'], `unit ${unit.name}: ${mistake}`)),
      ...incomplete.map((lack): SpecMistake => {
        return { severity: 'warning', path: [...path, 'contents'], message: `unit ${unit.name}: ${lack}` };
      }),
      ...dropins.flatMap((dropin, at) =>
        unitFindings(dropin.name, dropin.contents ?? '').mistakes.map((mistake) =>
          error([...path, 'dropins', at, 'contents'], `drop-in ${unit.name}.d/${dropin.name}: ${mistake}`),
        ),
      ),
    ];
  });
}

function octal(mode: number): string {
  return `0${mode.toString(8)}`;
}
