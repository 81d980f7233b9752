// Rules for files, directories and links: each by itself, and against the links and units of the same config.
import type { ConfigFinding } from '../problems.ts';
import { finding } from '../problems.ts';
import type { Infer } from '../schema.ts';
import { configType, directory, file, link, owner, storage } from '../schema.ts';
import type { SpecVersion } from '../spec-version.ts';
import { isAtLeast } from '../spec-version.ts';
import { cleanPath, pathProblem } from './paths.ts';
import { rule } from './rule.ts';

type Link = Infer<typeof link>;
type StorageFields = Infer<typeof storage>;

function* pathIsClean({ path }: { readonly path: string }): Iterable<ConfigFinding> {
  const problem = pathProblem(path);
  if (problem !== undefined) yield finding(problem, ['path']);
}

function* modeIsLegal({ mode }: { readonly mode?: number }): Iterable<ConfigFinding> {
  if (mode === undefined) return;
  if (mode < 0 || mode > 0o7777) yield finding('BAD_MODE', ['mode']);
  if ((mode & 0o7000) !== 0) yield finding('SPECIAL_MODE_BITS', ['mode']);
}

function* overwriteHasSource({ overwrite, contents }: Infer<typeof file>): Iterable<ConfigFinding> {
  if (overwrite === true && contents?.source === undefined) yield finding('OVERWRITE_WITHOUT_SOURCE', ['overwrite']);
}

function* ownerIsIdOrName({ id, name = '' }: Infer<typeof owner>): Iterable<ConfigFinding> {
  if (id !== undefined && name !== '') yield finding('ID_AND_NAME', []);
}

/** Hard links count too: whether a path can lead through one is not looked into. */
function* nothingLiesBelowLinks(value: StorageFields): Iterable<ConfigFinding> {
  const links = new Set(value.links?.map(({ path }) => path));
  const lengths = new Set(value.links?.map(({ path }) => path.length));
  const isBelowLink = (path: string) => {
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
      if (lengths.has(at) && links.has(path.slice(0, at))) return true;
    }
    return false;
  };
  for (const list of ['directories', 'files', 'links'] as const) {
    for (const [index, { path }] of (value[list] ?? []).entries()) {
      if (isBelowLink(path)) yield finding('BELOW_LINK', [list, index]);
    }
  }
}

function* linksHaveTargets(value: StorageFields, spec: SpecVersion): Iterable<ConfigFinding> {
  const directories = new Set(value.directories?.map(({ path }) => path));
  for (const [index, entry] of (value.links ?? []).entries()) {
    const { target = '' } = entry;
    if (target === '' && isAtLeast(spec, '3.3.0')) yield finding('TARGET_REQUIRED', ['links', index, 'target']);
    else if (entry.hard === true) {
      if (directories.has(hardLinkTarget(entry.path, target)))
        yield finding('HARD_LINK_TO_DIRECTORY', ['links', index]);
      yield* hardLinkHasNoOwner(entry, index);
    }
  }
}

/** A relative target is joined to the path of the link itself, not to its parent, because Ignition does so. */
function hardLinkTarget(path: string, target: string): string {
  const clean = cleanPath(target);
  if (clean.startsWith('/')) return clean;
  const joined = [path, target].filter((part) => part !== '').join('/');
  return joined === '' ? '' : cleanPath(joined);
}

function* hardLinkHasNoOwner(entry: Link, index: number): Iterable<ConfigFinding> {
  for (const who of ['user', 'group'] as const) {
    for (const what of ['id', 'name'] as const) {
      if (entry[who]?.[what] !== undefined) yield finding('HARD_LINK_OWNER', ['links', index, who, what]);
    }
  }
}

function* pathsAreNotUnits({ storage = {}, systemd }: Infer<typeof configType>): Iterable<ConfigFinding> {
  const written = new Set<string>();
  for (const { name, contents = '', dropins = [] } of systemd?.units ?? []) {
    if (contents !== '') written.add(`/etc/systemd/system/${name}`);
    for (const dropin of dropins) {
      if ((dropin.contents ?? '') !== '') written.add(`/etc/systemd/system/${name}.d/${dropin.name}`);
    }
  }
  for (const list of ['files', 'directories', 'links'] as const) {
    for (const [index, { path }] of (storage[list] ?? []).entries()) {
      if (written.has(path)) yield finding('PATH_OF_UNIT', ['storage', list, index, 'path']);
    }
  }
}

export const fileRules = [
  rule(configType, pathsAreNotUnits),
  rule(storage, nothingLiesBelowLinks),
  rule(storage, linksHaveTargets),
  rule(directory, pathIsClean),
  rule(directory, modeIsLegal),
  rule(file, pathIsClean),
  rule(file, modeIsLegal),
  rule(file, overwriteHasSource),
  rule(link, pathIsClean),
  rule(owner, ownerIsIdOrName),
];
