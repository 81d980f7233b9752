// Versions of the operating system. They end up in URLs and folder names, so nothing that is not a version gets past
// here. Numbers are bigint: a folder called 99999999999999999999.0.0 must not confuse the comparison.
const pattern = /^(\d+)\.(\d+)\.(\d+)(?:([-+])([0-9A-Za-z.-]+))?$/;

/** The first OS version with a published bucket. */
export const bucketEpoch = '1520.3.0';

export function isOsVersion(text: string): boolean {
  return pattern.test(text) && text.length <= 64;
}

/** Semantic-version order: negative, zero or positive; a pre-release comes before its release, a build counts nothing. */
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
  // `1.2.3-beta+build`: the suffix pattern has no plus, so a pre-release with a build is not accepted at all.
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
