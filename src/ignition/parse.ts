// From the text of a config to the config, or to the reasons why a machine would refuse it, each with its place in the
// text. The stages are Ignition's: JSON, version, types, rules; a later one is only reached through the earlier ones.
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
  const text = typeof source === 'string' ? source : new TextDecoder('utf-8', { ignoreBOM: true }).decode(source);
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
