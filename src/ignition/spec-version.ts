// The spec versions this package speaks, oldest first, and how a version string in a config is read.
// A version is a name, not a range: 3.5.1, 3.5.0-experimental and 3.6.0 are other specs, and refused.

export const specVersions = ['3.0.0', '3.1.0', '3.2.0', '3.3.0', '3.4.0', '3.5.0'] as const;

export type SpecVersion = (typeof specVersions)[number];

export const oldestSpec: SpecVersion = '3.0.0';
export const latestSpec = '3.5.0' satisfies SpecVersion;

export function isAtLeast(version: SpecVersion, minimum: SpecVersion): boolean {
  return specVersions.indexOf(version) >= specVersions.indexOf(minimum);
}

export type ReadVersion =
  | { readonly status: 'supported'; readonly version: SpecVersion }
  | { readonly status: 'unsupported'; readonly version: string }
  | { readonly status: 'malformed' };

const largestInt64 = 2n ** 63n - 1n;
const identifier = /^(?:[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

/**
 * Reads a version as Ignition's semver library does: three decimal numbers, leading zeros allowed, an optional
 * `-prerelease` and `+metadata`. An empty suffix (`3.5.0+`) is no suffix; any other suffix makes another version.
 */
export function readSpecVersion(text: string): ReadVersion {
  const [beforeMetadata = '', metadata = ''] = cut(text, '+');
  const [numbers = '', prerelease = ''] = cut(beforeMetadata, '-');
  const parts = numbers.split('.');
  const wellFormed =
    parts.length === 3 &&
    parts.every((part) => /^[0-9]+$/.test(part) && BigInt(part) <= largestInt64) &&
    identifier.test(prerelease) &&
    identifier.test(metadata);
  if (!wellFormed) return { status: 'malformed' };

  const canonical = parts.map((part) => BigInt(part).toString()).join('.');
  const version = specVersions.find((known) => known === canonical);
  if (version !== undefined && prerelease === '' && metadata === '') return { status: 'supported', version };
  return { status: 'unsupported', version: text };
}

function cut(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
