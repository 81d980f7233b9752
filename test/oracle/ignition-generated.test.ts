// Configs by chance, put to us and to the real Ignition: same verdict, same places, same merged and converted configs.
// 500 of each by default, 5,000 with FIRSTLIGHT_LONG=1; the seed is fixed, so a failure comes back on the next run.
import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import type { IgnitionConfig } from '../../src/ignition/config.ts';
import { convert, convertUp } from '../../src/ignition/convert.ts';
import { merge } from '../../src/ignition/merge.ts';
import { parseIgnition } from '../../src/ignition/parse.ts';
import { reportVerdict } from '../../src/ignition/report.ts';
import { serialize } from '../../src/ignition/serialize.ts';
import { specVersions } from '../../src/ignition/spec-version.ts';
import { validate } from '../../src/ignition/validate.ts';
import { disagreement, pruned } from './ignition-agreement.ts';
import { withOurAdvertisements } from './ignition-disagreements.ts';
import { configs, nearlyUnit, sections } from './ignition-generator/config.ts';
import { nearlyUrl } from './ignition-generator/resources.ts';
import { textOf } from './ignition-generator/text.ts';
import type { OracleAnswer } from './ignition-oracle.ts';
import { askOracle } from './ignition-oracle.ts';

const seed = 20_260_101;
const numRuns = process.env.FIRSTLIGHT_LONG === '1' ? 5_000 : 500;
// A busy machine took 60 s for 5,000 of the slowest kind.
vi.setConfig({ testTimeout: 120_000 + numRuns * 100 });

/** The disagreements over a batch of configs, and how often each verdict was given. */
function compareVerdicts(texts: readonly string[]) {
  const answers = askOracle(texts.map((config) => ({ op: 'validate', config })));
  const verdicts = { error: 0, warning: 0, fine: 0 };
  const differences = texts.flatMap((text, index) => {
    const { report } = parseIgnition(text);
    verdicts[reportVerdict(report)] += 1;
    const difference = disagreement(text, report, answers[index]!);
    return difference === undefined ? [] : [`${difference}\n${text}`];
  });
  return { differences, verdicts };
}

test.each([
  ['configs', textOf(configs(60))],
  ['sections', textOf(sections(8))],
])(`${numRuns} %s get Ignition's verdict, at Ignition's places`, (_, texts) => {
  const { differences, verdicts } = compareVerdicts(fc.sample(texts, { seed, numRuns }));
  expect(differences).toEqual([]);
  // A generator that only makes bad configs, or only good ones, proves little.
  for (const count of Object.values(verdicts)) expect(count).toBeGreaterThan(numRuns / 10);
});

test(`${numRuns} texts that are nearly URLs get Ignition's verdict`, () => {
  const texts = fc.sample(nearlyUrl, { seed, numRuns }).map((source) => {
    return JSON.stringify({ ignition: { version: '3.5.0', config: { replace: { source } } } });
  });
  const { differences, verdicts } = compareVerdicts(texts);
  expect(differences).toEqual([]);
  expect(verdicts.fine).toBeGreaterThan(numRuns / 20);
});

test(`${numRuns} texts that are nearly units get Ignition's verdict`, () => {
  const texts = fc.sample(nearlyUnit, { seed, numRuns }).map((contents) => {
    return JSON.stringify({
      ignition: { version: '3.5.0' },
      systemd: { units: [{ name: 'a.service', enabled: true, contents }] },
    });
  });
  const { differences, verdicts } = compareVerdicts(texts);
  expect(differences).toEqual([]);
  for (const count of [verdicts.error, verdicts.warning]) expect(count).toBeGreaterThan(numRuns / 10);
});

function parsed(text: string): IgnitionConfig {
  const result = parseIgnition(text);
  if (result.status !== 'parsed')
    throw new Error(`not a valid config: ${JSON.stringify(result.report.errors)}\n${text}`);
  return result.config;
}

const valid = configs(Number.POSITIVE_INFINITY)
  .map((config) => JSON.stringify(config))
  .filter((text) => parseIgnition(text).status === 'parsed');

const written = (config: IgnitionConfig) => JSON.parse(serialize(config)) as unknown;

test(`${numRuns} pairs of configs merge as Ignition merges them, with its verdict on the result`, () => {
  const pairs = fc.sample(fc.tuple(valid, valid), { seed, numRuns });
  const answers = askOracle(pairs.map(([parent, child]) => ({ op: 'merge', parent, child })));
  const differences = pairs.flatMap(([parent, child], index) => {
    const inputs = [parsed(parent), parsed(child)] as const;
    const merged = merge(...inputs);
    const answer = answers[index]!;
    const isSame = isDeepStrictEqual(written(merged), pruned(withOurAdvertisements(answer.config, merged, inputs)));
    const difference = disagreement('', validate(merged, { duplicates: false }), ofMerged(answer));
    return isSame && difference === undefined ? [] : [`${difference ?? 'other result'}\n${parent}\n${child}`];
  });
  expect(differences).toEqual([]);
});

/** Of an answer about a merge, what it says about the result. */
function ofMerged(answer: OracleAnswer): OracleAnswer {
  const entries = answer.entries.filter(({ of }) => of === 'merged');
  const kinds = new Set(entries.map(({ kind }) => kind));
  const worst = (['error', 'warning'] as const).find((kind) => kinds.has(kind));
  return { ...answer, entries, verdict: worst ?? 'fine' };
}

test(`${numRuns} configs convert up as Ignition converts them`, () => {
  const texts = fc.sample(valid, { seed, numRuns });
  const answers = askOracle(texts.map((config) => ({ op: 'convert-up', config })));
  const differences = texts.filter((text, index) => {
    const input = parsed(text);
    const config = convertUp(input);
    const theirs = withOurAdvertisements(answers[index]!.config, config, [input]);
    return !isDeepStrictEqual(written(config), pruned(theirs));
  });
  expect(differences).toEqual([]);
});

test(`${numRuns} configs, converted down where nothing is lost, are accepted by Ignition and mean the same`, () => {
  const originals = fc.sample(valid, { seed, numRuns }).map((text) => convertUp(parsed(text)));
  const attempts = originals.flatMap((original) =>
    specVersions.map((version) => ({ original, version, down: convert(original, version) })),
  );
  const successes = attempts.flatMap(({ original, down }) =>
    down.status === 'converted' ? [{ original, config: down.config }] : [],
  );
  const answers = askOracle(successes.map(({ config }) => ({ op: 'convert-up', config: serialize(config) })));
  const differences = successes.filter(({ original, config }, index) => {
    const theirs = answers[index]!;
    const back = withoutDefaults(pruned(withOurAdvertisements(theirs.config, original, [config])));
    return theirs.verdict === 'error' || !isDeepStrictEqual(back, withoutDefaults(written(original)));
  });
  expect(differences).toEqual([]);

  const refusals = attempts.filter(({ down }) => down.status === 'lossy');
  for (const { version } of refusals) expect(version).not.toBe('3.5.0');
  expect(successes.length).toBeGreaterThan(originals.length * 1.5);
  expect(refusals.length).toBeGreaterThan(originals.length);
});

/** Values that say what is so anyway, which conversion downwards may leave out. */
function withoutDefaults(value: unknown): unknown {
  const defaults: Readonly<Record<string, unknown>> = {
    shouldExist: true,
    resize: false,
    discard: false,
    compression: '',
    advertisement: '',
  };
  if (Array.isArray(value)) return value.map(withoutDefaults);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(
    ([key, member]) => !Object.hasOwn(defaults, key) || defaults[key] !== member,
  );
  return Object.fromEntries(kept.map(([key, member]) => [key, withoutDefaults(member)]));
}
