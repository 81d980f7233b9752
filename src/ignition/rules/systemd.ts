// Rules for units and drop-ins: their names, whether systemd can read them, and whether enabling them does anything.
import type { ConfigFinding } from '../problems.ts';
import { finding } from '../problems.ts';
import type { Infer } from '../schema.ts';
import { dropin, systemd, unit } from '../schema.ts';
import { readUnit } from '../unit-file.ts';
import { extension } from './paths.ts';
import { rule } from './rule.ts';

const unitTypes = new Set(
  'service socket device mount automount swap target path timer snapshot slice scope'
    .split(' ')
    .map((name) => `.${name}`),
);

function* unitIsNamed({ name }: Infer<typeof unit>): Iterable<ConfigFinding> {
  if (!unitTypes.has(extension(name))) yield finding('BAD_UNIT_NAME', ['name']);
}

function* contentsAreReadable({ contents = '' }: { readonly contents?: string }): Iterable<ConfigFinding> {
  const read = readUnit(contents);
  if (read.status === 'malformed') yield finding('BAD_UNIT_CONTENTS', ['contents'], read.reason);
}

function* unitIsReadableAndInstalls({ enabled, contents = '' }: Infer<typeof unit>): Iterable<ConfigFinding> {
  const read = readUnit(contents);
  if (read.status === 'malformed') yield finding('BAD_UNIT_CONTENTS', ['contents'], read.reason);
  else if (enabled === true && contents !== '' && !read.sectionsWithOptions.has('Install')) {
    yield finding('NO_INSTALL_SECTION', ['contents']);
  }
}

function* dropinIsNamed({ name }: Infer<typeof dropin>): Iterable<ConfigFinding> {
  if (extension(name) !== '.conf') yield finding('BAD_DROPIN_NAME', ['name']);
}

function* instancesHaveInstallableTemplates({ units = [] }: Infer<typeof systemd>): Iterable<ConfigFinding> {
  const useless = new Set(units.filter(isUselessTemplate).map(({ name }) => name));
  for (const [index, { name, enabled }] of units.entries()) {
    const template = enabled === true ? templateOf(name) : undefined;
    if (template !== undefined && useless.has(template)) {
      yield finding('NO_INSTALL_SECTION_IN_TEMPLATE', ['units', index, 'contents'], template);
    }
  }
}

/** A readable template without [Install]. An unreadable one is reported as unreadable instead. */
function isUselessTemplate({ name, contents = '' }: Infer<typeof unit>): boolean {
  if (contents === '' || !name.endsWith('@.service')) return false;
  const read = readUnit(contents);
  return read.status === 'read' && !read.sectionsWithOptions.has('Install');
}

/** a@b.service is an instance of a@.service; units of other types are not looked at. */
function templateOf(name: string): string | undefined {
  const at = name.indexOf('@', 1);
  const isInstance = at > 0 && name.endsWith('.service') && name.length > at + 1 + '.service'.length;
  return isInstance && !name.includes('\n') ? `${name.slice(0, at)}@.service` : undefined;
}

export const systemdRules = [
  rule(systemd, instancesHaveInstallableTemplates),
  rule(unit, unitIsNamed),
  rule(unit, unitIsReadableAndInstalls),
  rule(dropin, dropinIsNamed),
  rule(dropin, contentsAreReadable),
];
