// Rules for encrypted devices: what unlocks them, and which ways of unlocking exclude each other.
import { type JsonNode, readJsonWithPlaces } from '../../source-text/json.ts';
import type { ConfigFinding } from '../problems.ts';
import { finding } from '../problems.ts';
import type { Infer } from '../schema.ts';
import { clevisCustom, luks, tang } from '../schema.ts';
import type { SpecVersion } from '../spec-version.ts';
import { isAtLeast } from '../spec-version.ts';
import { parseUrl } from '../url.ts';
import { pathProblem } from './paths.ts';
import { rule } from './rule.ts';

type Luks = Infer<typeof luks>;

const pins = new Set(['tpm2', 'tang', 'sss']);

function* deviceIsNamed({ name, label = '', device = '' }: Luks): Iterable<ConfigFinding> {
  if (name.includes('/')) yield finding('LUKS_NAME_SLASH', ['name']);
  if (Buffer.byteLength(label) > 47) yield finding('LUKS_LABEL_TOO_LONG', ['label']);
  const problem = device === '' ? 'DEVICE_REQUIRED' : pathProblem(device);
  if (problem !== undefined) yield finding(problem, ['device']);
}

function* unlockingIsUnambiguous({ clevis = {}, cex, keyFile }: Luks, spec: SpecVersion): Iterable<ConfigFinding> {
  const { custom, tang = [], tpm2, threshold = 0 } = clevis;
  const hasOthers = tang.length > 0 || tpm2 === true || threshold !== 0;
  const hasPin = (custom?.pin ?? '') !== '';
  // Before 3.3 an empty custom object was already a choice.
  const hasCustom = isAtLeast(spec, '3.3.0') ? hasPin : custom !== undefined;
  if (hasCustom && hasOthers) yield finding('CUSTOM_PIN_WITH_OTHERS', ['clevis']);

  if (cex?.enabled !== true) return;
  if (hasPin || hasOthers) yield finding('CEX_WITH_CLEVIS', ['cex']);
  if ((keyFile?.source ?? '') !== '') yield finding('CEX_WITH_KEY_FILE', ['cex']);
}

function* customPinIsComplete(value: Infer<typeof clevisCustom>, spec: SpecVersion): Iterable<ConfigFinding> {
  const { pin = '', config = '', needsNetwork = false } = value;
  const isSilent = pin === '' && config === '';
  // Before 3.3 needsNetwork alone asked for nothing.
  if (isSilent && (!needsNetwork || !isAtLeast(spec, '3.3.0'))) return;
  if (pin === '') yield finding('PIN_REQUIRED', ['pin']);
  else if (!pins.has(pin)) yield finding('UNKNOWN_PIN', ['pin']);
  if (config === '') yield finding('PIN_CONFIG_REQUIRED', ['config']);
}

function* tangIsReachable({ url, thumbprint = '', advertisement = '' }: Infer<typeof tang>): Iterable<ConfigFinding> {
  const scheme = parseUrl(url)?.scheme;
  if (scheme === undefined) yield finding('BAD_URL', ['url']);
  else if (scheme !== 'http' && scheme !== 'https') yield finding('BAD_SCHEME', ['url'], scheme || 'none');
  if (thumbprint === '') yield finding('THUMBPRINT_REQUIRED', ['thumbprint']);
  if (advertisement !== '' && !isReadable(advertisement)) yield finding('BAD_ADVERTISEMENT', ['advertisement']);
}

/** Ignition reads the advertisement into numbers of 64 bits, and refuses one that none of them is near to. */
function isReadable(advertisement: string): boolean {
  const json = readJsonWithPlaces(advertisement);
  if (json.status === 'malformed') return false;
  const left: JsonNode[] = [json.root];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    if (node.kind === 'number' && !Number.isFinite(Number(node.spelling))) return false;
    if (node.kind === 'array') left.push(...node.items);
    if (node.kind === 'object') left.push(...node.entries.map(({ value }) => value));
  }
  return true;
}

export const luksRules = [
  rule(luks, deviceIsNamed),
  rule(luks, unlockingIsUnambiguous),
  rule(clevisCustom, customPinIsComplete),
  rule(tang, tangIsReachable),
];
