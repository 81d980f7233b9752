// The operating system: the order of its versions, and what os-release says about the running one. Versions become
// parts of URLs and folder names, so everything that is not a version is refused here. Numbers are bigint, because a
// folder called 99999999999999999999.0.0 must compare correctly.
import { torcxErrors } from './errors.ts';

const pattern = /^(\d+)\.(\d+)\.(\d+)(?:([-+])([0-9A-Za-z.-]+))?$/;

/** The first OS version with a published bucket. */
export const firstOsWithBucket = '1520.3.0';

export function isOsVersion(text: string): boolean {
  return pattern.test(text) && text.length <= 64;
}

/** Order of semantic versions: negative, zero or positive. A pre-release is before its release; a build is ignored. */
export function compareOsVersions(left: string, right: string): number {
  const [a, b] = [parse(left), parse(right)];
  for (const [index, number] of a.numbers.entries()) {
    const other = b.numbers[index] ?? 0n;
    if (number !== other) return number < other ? -1 : 1;
  }
  return comparePreReleases(a.preRelease, b.preRelease);
}

function parse(text: string): { readonly numbers: readonly bigint[]; readonly preRelease: readonly string[] } {
  const match = pattern.exec(text);
  if (match === null) throw new Error(`${text} is not an OS version`);
  const [, major = '', minor = '', patch = '', sign, suffix = ''] = match;
  // The suffix pattern has no plus, so `1.2.3-beta+build`, a pre-release with a build, is refused.
  return { numbers: [major, minor, patch].map(BigInt), preRelease: sign === '-' ? suffix.split('.') : [] };
}

function comparePreReleases(left: readonly string[], right: readonly string[]): number {
  if (left.length === 0 || right.length === 0) return right.length - left.length;
  for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
    const [a, b] = [left[index], right[index]];
    if (a === undefined || b === undefined) return a === undefined ? -1 : 1;
    if (a === b) continue;
    const [isNumberA, isNumberB] = [/^\d+$/.test(a), /^\d+$/.test(b)];
    if (isNumberA && isNumberB) return BigInt(a) < BigInt(b) ? -1 : 1;
    if (isNumberA !== isNumberB) return isNumberA ? -1 : 1;
    return a < b ? -1 : 1;
  }
  return 0;
}

export type RunningOs =
  | {
      readonly hasTorcx: true;
      readonly version: string;
      readonly board: string;
      /** The CPU architecture, when os-release names no board and the board was derived from it. */
      readonly boardGuessedFrom?: string;
    }
  /** Nobody publishes add-ons for it, and it has no update_engine: its version means nothing here. */
  | { readonly hasTorcx: false; readonly name: string };

const boardByArchitecture: Readonly<Record<string, string>> = { x64: 'amd64-usr', arm64: 'arm64-usr' };

/** The systems that torcx is part of, by the `ID` of os-release. A file without `ID` counts as one of them. */
const systemsWithTorcx = ['coreos', 'flatcar'];

/** VERSION_ID is the version; VERSION has a build suffix and is not used. */
export function parseOsRelease(path: string, text: string, architecture: string): RunningOs {
  const id = field(text, 'ID') ?? '';
  if (id !== '' && !systemsWithTorcx.includes(id)) {
    return { hasTorcx: false, name: field(text, 'PRETTY_NAME') || `${id} ${field(text, 'VERSION_ID') ?? ''}`.trim() };
  }
  const version = field(text, 'VERSION_ID');
  if (version === undefined) throw torcxErrors.INPUT({ path, reason: 'VERSION_ID is missing' });
  if (!isOsVersion(version)) {
    throw torcxErrors.INPUT({ path, reason: `VERSION_ID is ${JSON.stringify(version)}, which is not like 1520.5.0` });
  }
  const stated = field(text, 'COREOS_BOARD');
  if (stated !== undefined && stated !== '') return { hasTorcx: true, version, board: stated };
  const board = boardByArchitecture[architecture];
  if (board === undefined) {
    throw torcxErrors.INPUT({ path, reason: `COREOS_BOARD is missing and there is no board for ${architecture}` });
  }
  return { hasTorcx: true, version, board, boardGuessedFrom: architecture };
}

function field(text: string, key: string): string | undefined {
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${key}=`));
  return line
    ?.slice(key.length + 1)
    .trim()
    .replace(/^"+|"+$/g, '');
}
