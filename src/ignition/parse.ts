// From the text of a config to the config, or to the reasons why a machine would refuse it, each with its place in the
// text. The stages are Ignition's: JSON, version, types, rules; a later one is only reached through the earlier ones.
import { isUtf8 } from 'node:buffer';
import { jsonOffsets, readJsonWithPlaces } from '../source-text/json.ts';
import { positionsIn } from '../source-text/place.ts';
import type { IgnitionConfig } from './config.ts';
import { decodeConfig, decodeVersion } from './decode.ts';
import type { ConfigFinding, PlacedFinding } from './problems.ts';
import { finding } from './problems.ts';
import type { IgnitionReport } from './report.ts';
import { makeReport } from './report.ts';
import { readSpecVersion } from './spec-version.ts';
import { findConfigProblems } from './validate.ts';

export type ParsedIgnition =
  | { readonly status: 'parsed'; readonly config: IgnitionConfig; readonly report: IgnitionReport }
  | { readonly status: 'refused'; readonly report: IgnitionReport }
  /** Zero bytes. Ignition takes a missing config for "nothing to do", so callers must tell it from a bad one. */
  | { readonly status: 'empty'; readonly report: IgnitionReport };

/** The config keeps the spec version it declares; `convert` brings it to another one. */
export function parseIgnition(source: string | Uint8Array): ParsedIgnition {
  const text = typeof source === 'string' ? source : textOf(source);
  if (text === '') return { status: 'empty', report: makeReport([finding('EMPTY', [])]) };

  const json = readJsonWithPlaces(text);
  if (json.status === 'malformed') {
    return refused(text, [{ ...finding('BAD_JSON', [], json.reason), offset: json.offset }]);
  }
  const { root } = json;
  const offsetOf = jsonOffsets(root);
  const declared = decodeVersion(root);
  if (declared.mistakes.length > 0) return refused(text, declared.mistakes);
  const version = readSpecVersion(declared.text);
  if (version.status !== 'supported') {
    const code = version.status === 'malformed' ? 'BAD_VERSION' : 'UNKNOWN_VERSION';
    const path = ['ignition', 'version'];
    return refused(text, [{ ...finding(code, path, describeVersion(declared.text)), offset: offsetOf(path) }]);
  }

  const decoded = decodeConfig(root, version.version);
  if (decoded.status === 'mistyped') return refused(text, decoded.mistakes);
  const broken = findConfigProblems(decoded.config).map((found) => ({ ...found, offset: offsetOf(found.path) }));
  const report = reportIn(text, [...broken, ...decoded.findings]);
  return report.errors.length > 0
    ? { status: 'refused', report }
    : { status: 'parsed', config: decoded.config, report };
}

/** The bytes of a character that UTF-8 knows, or one byte of anything else; bytes are written as Latin-1. */
const characterOrByte =
  /[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|\xed[\x80-\x9f][\x80-\xbf]|[\xe1-\xef][\x80-\xbf]{2}|\xf0[\x90-\xbf][\x80-\xbf]{2}|\xf4[\x80-\x8f][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|[\x80-\xff]/g;

/**
 * As Go reads bytes that are not UTF-8: each becomes U+FFFD by itself. TextDecoder makes one of several, and two paths
 * that a machine takes for equal would differ here.
 */
function textOf(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (isUtf8(buffer)) return buffer.toString('utf8');
  return buffer
    .toString('latin1')
    .replace(characterOrByte, (found) =>
      found.length === 1 ? '\ufffd' : Buffer.from(found, 'latin1').toString('utf8'),
    );
}

function describeVersion(text: string): string | undefined {
  if (text.startsWith('2.')) return `${text}; ign-converter rewrites configs of spec 2`;
  return text === '' ? undefined : text;
}

function refused(text: string, findings: readonly PlacedFinding[]): ParsedIgnition {
  return { status: 'refused', report: reportIn(text, findings) };
}

/** In the order of the text, in which a user will correct it. */
function reportIn(text: string, findings: readonly PlacedFinding[]): IgnitionReport {
  if (findings.length === 0) return makeReport([]);
  const positionOf = positionsIn(text);
  const offsets = new Map<ConfigFinding, number>(findings.map((found) => [found, found.offset]));
  return makeReport(
    findings.toSorted((one, other) => one.offset - other.offset),
    (found) => positionOf(offsets.get(found) ?? 0),
  );
}
