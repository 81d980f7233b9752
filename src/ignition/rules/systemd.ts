// Rules for units and drop-ins: their names, whether systemd can read them, and whether enabling them does anything.
import type { Finding } from '../problems.ts';
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
const instance = /^(.+?)@(.+?)\.service$/;

function* unitIsNamed({ name }: Infer<typeof unit>): Iterable<Finding> {
  if (!unitTypes.has(extension(name))) yield finding('BAD_UNIT_NAME', ['name']);
}

function* contentsAreReadable({ contents = '' }: { readonly contents?: string }): Iterable<Finding> {
  const read = readUnit(contents);
  if (read.status === 'malformed') yield finding('BAD_UNIT_CONTENTS', ['contents'], read.reason);
}

function* enablingDoesSomething({ enabled, contents = '' }: Infer<typeof unit>): Iterable<Finding> {
  if (enabled === true && contents !== '' && isNeverInstalled(contents))
    yield finding('NO_INSTALL_SECTION', ['contents']);
}

/** False for contents that cannot be read: that is another rule's business. */
function isNeverInstalled(contents: string): boolean {
  const read = readUnit(contents);
  return read.status === 'read' && !read.sectionsWithOptions.has('Install');
}

function* dropinIsNamed({ name }: Infer<typeof dropin>): Iterable<Finding> {
  if (extension(name) !== '.conf') yield finding('BAD_DROPIN_NAME', ['name']);
}

function* instancesHaveInstallableTemplates({ units = [] }: Infer<typeof systemd>): Iterable<Finding> {
  const byName = new Map(units.map((entry) => [entry.name, entry]));
  for (const [index, { name, enabled }] of units.entries()) {
    const template = enabled === true ? instance.exec(name)?.[1] : undefined;
    const contents = template === undefined ? '' : (byName.get(`${template}@.service`)?.contents ?? '');
    if (contents !== '' && isNeverInstalled(contents)) {
      yield finding('NO_INSTALL_SECTION_IN_TEMPLATE', ['units', index, 'contents'], `${template}@.service`);
    }
  }
}

export const systemdRules = [
  rule(systemd, instancesHaveInstallableTemplates),
  rule(unit, unitIsNamed),
  rule(unit, contentsAreReadable),
  rule(unit, enablingDoesSomething),
  rule(dropin, dropinIsNamed),
  rule(dropin, contentsAreReadable),
];
