// Every rule by hand: what we say of a config, and that the real Ignition says the same of the same bytes.
import { expect, test } from 'vitest';
import { parseIgnition } from '../../src/ignition/parse.ts';
import { problems } from '../../src/ignition/problems.ts';
import { disagreement } from './ignition-agreement.ts';
import type { Case } from './ignition-cases/case.ts';
import { luksCases } from './ignition-cases/luks.ts';
import { readingCases } from './ignition-cases/reading.ts';
import { resourceCases } from './ignition-cases/resources.ts';
import { storageCases } from './ignition-cases/storage.ts';
import { systemdCases } from './ignition-cases/systemd.ts';
import type { OracleAnswer, OracleQuestion } from './ignition-oracle.ts';
import { askOracle } from './ignition-oracle.ts';

const cases = [...readingCases, ...resourceCases, ...storageCases, ...luksCases, ...systemdCases];

const bytesOf = ({ text }: Case): Buffer => Buffer.from(text, 'latin1');
const question = (one: Case): OracleQuestion =>
  one.isBytes === true
    ? { op: 'validate', config: bytesOf(one).toString('base64'), base64: true }
    : { op: 'validate', config: one.text };

let answers: Map<Case, OracleAnswer> | undefined;
function theirs(one: Case): OracleAnswer {
  answers ??= new Map(askOracle(cases.map(question)).map((answer, index) => [cases[index]!, answer]));
  return answers.get(one)!;
}

test.each(cases)('$title', (one) => {
  const { report } = parseIgnition(one.isBytes === true ? bytesOf(one) : one.text);
  const codes = new Set([...report.errors, ...report.warnings].map(({ code }) => code));
  expect(codes).toEqual(new Set(one.codes));
  expect(disagreement(one.text, report, theirs(one))).toBeUndefined();
});

test('every problem in the table has a case', () => {
  const covered = new Set(cases.flatMap(({ codes }) => codes));
  expect(Object.keys(problems).filter((code) => !covered.has(code as keyof typeof problems))).toEqual([]);
});
