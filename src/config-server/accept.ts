// Chooses the Ignition spec of an answer from the `Accept` header. A client that names a spec gets that one; a client
// that names none (curl, a browser, garbage) gets the newest, because a person wants to see what there is.
import type { SpecVersion } from '../ignition/spec-version.ts';
import { latestSpec, specVersions } from '../ignition/spec-version.ts';

export type Negotiated =
  | { readonly status: 'spec'; readonly version: SpecVersion }
  /** A spec that we do not speak and never will: 2.x is another language, 4.x does not exist. */
  | { readonly status: 'unsupported'; readonly asked: string };

interface Preference {
  readonly major: number;
  readonly minor: number;
  readonly text: string;
  readonly quality: number;
}

const mediaType = 'application/vnd.coreos.ignition+json';

/** The most preferred entry that names a spec decides alone; there is no fallback to another (RFC 9110 §12.5.1). */
export function negotiateSpec(accept: string | undefined): Negotiated {
  let best: Preference | undefined;
  for (const entry of (accept ?? '').split(',')) {
    const preference = readEntry(entry);
    if (preference !== undefined && preference.quality > (best?.quality ?? 0)) best = preference;
  }
  if (best === undefined) return { status: 'spec', version: latestSpec };
  if (best.major !== 3) return { status: 'unsupported', asked: best.text };
  return { status: 'spec', version: specVersions[best.minor] ?? latestSpec };
}

function readEntry(entry: string): Preference | undefined {
  const [type = '', ...parameters] = entry.split(';');
  if (type.trim().toLowerCase() !== mediaType) return undefined;
  let quality = 1;
  let version: RegExpExecArray | undefined;
  for (const parameter of parameters) {
    const at = parameter.indexOf('=');
    const name = parameter.slice(0, at).trim().toLowerCase();
    const value = parameter.slice(at + 1).trim();
    if (name === 'q') quality = readQuality(value);
    if (name === 'version')
      version ??= /^"?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:[-+][0-9A-Za-z.+-]*)?"?$/.exec(value) ?? undefined;
  }
  if (version === undefined) return undefined;
  return { major: Number(version[1]), minor: Number(version[2]), text: version[0], quality };
}

/** Zero means "not this one"; a text that is no number is ignored. */
function readQuality(text: string): number {
  return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(text) ? Number(text) : 1;
}
