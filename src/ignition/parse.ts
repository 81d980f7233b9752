// From the text of a config to the config, or to the reasons why a machine would refuse it, each with its place in the
// text. The stages are Ignition's: JSON, version, types, rules; a later one is only reached through the earlier ones.
import type { Config } from './config.ts';
import { decodeConfig, decodeVersion } from './decode.ts';
import type { JsonNode } from './json-source.ts';
import { positionsIn, readJsonWithPlaces } from './json-source.ts';
import type { ConfigFinding, JsonPath, PlacedFinding } from './problems.ts';
import { finding } from './problems.ts';
import type { Report } from './report.ts';
import { makeReport } from './report.ts';
import { readSpecVersion } from './spec-version.ts';
import { findConfigProblems } from './validate.ts';

export type Parsed =
  | { readonly status: 'parsed'; readonly config: Config; readonly report: Report }
  | { readonly status: 'refused'; readonly report: Report }
  /** Zero bytes. Ignition takes a missing config for "nothing to do", so callers must tell it from a bad one. */
  | { readonly status: 'empty'; readonly report: Report };

/** The config keeps the spec version it declares; `convert` brings it to another one. */
export function parse(source: string | Uint8Array): Parsed {
  const text = typeof source === 'string' ? source : new TextDecoder('utf-8', { ignoreBOM: true }).decode(source);
  if (text === '') return { status: 'empty', report: makeReport([finding('EMPTY', [])]) };

  const json = readJsonWithPlaces(text);
  if (json.status === 'malformed') {
    return refused(text, [{ ...finding('BAD_JSON', [], json.reason), offset: json.offset }]);
  }
  const { root } = json;
  const offsetOf = locatorIn(root);
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

function refused(text: string, findings: readonly PlacedFinding[]): Parsed {
  return { status: 'refused', report: reportIn(text, findings) };
}

/** In the order of the text, which is the order a person will mend it in. */
function reportIn(text: string, findings: readonly PlacedFinding[]): Report {
  if (findings.length === 0) return makeReport([]);
  const positionOf = positionsIn(text);
  const offsets = new Map<ConfigFinding, number>(findings.map((found) => [found, found.offset]));
  return makeReport(
    findings.toSorted((one, other) => one.offset - other.offset),
    (found) => positionOf(offsets.get(found) ?? 0),
  );
}

/** Tells where the value at a path starts, or the innermost one around it that the text has. */
function locatorIn(root: JsonNode): (path: JsonPath) => number {
  const indexes = new Map<JsonNode, ReadonlyMap<string, JsonNode>>();
  const memberOf = (node: JsonNode, step: string | number): JsonNode | undefined => {
    if (node.kind === 'array') return typeof step === 'number' ? node.items[step] : undefined;
    if (node.kind !== 'object' || typeof step === 'number') return undefined;
    const index = indexes.get(node) ?? new Map(node.entries.map(({ key, value }) => [key, value]));
    indexes.set(node, index);
    return index.get(step);
  };
  return (path) => {
    let node = root;
    for (const step of path) {
      const member = memberOf(node, step);
      if (member === undefined) break;
      node = member;
    }
    return node.start;
  };
}
