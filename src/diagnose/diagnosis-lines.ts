// A diagnosis as lines of text: what was seen, the likeliest reasons, the next command. Used by `diagnose` and by the
// errors of commands that waited too long.
import { shownLine } from '../host/terminal-text.ts';
import type { NextCommand } from './check.ts';
import type { Reason } from './diagnose.ts';

export interface DiagnosisText {
  readonly seen: readonly string[];
  readonly reasons: readonly Reason[];
  /** ` --dir lab`, or nothing where the folder is the usual one. */
  readonly dirOption: string;
  /** What to say after the command that belongs to the first reason. */
  readonly closing: readonly string[];
}

const shownReasons = 3;
const shownSeen = 4;

export function diagnosisLines({ seen, reasons, dirOption, closing }: DiagnosisText): readonly string[] {
  const [first] = reasons;
  // What is waited for is already shown under `seen`; it is a reason only when there is no other.
  const told = reasons.filter(({ certainty }) => certainty !== 'waited' || first?.certainty === 'waited');
  const likely = told
    .slice(0, shownReasons)
    .flatMap(({ sentence, seen: measured }, index) => [`${index + 1}. ${sentence}`, `   ${measured}`]);
  const next = [...(first === undefined ? [] : [commandText(first.next, dirOption)]), ...closing];
  return [
    ...column('seen', shortened(seen)),
    ...column('likely', likely.length === 0 ? ['nothing that is looked at explains it'] : likely),
    ...column('next', next),
  ];
}

export function commandText({ verb, rest }: NextCommand, dirOption: string): string {
  return `firstlight ${verb}${dirOption} ${rest}`.trimEnd();
}

function shortened(lines: readonly string[]): readonly string[] {
  if (lines.length <= shownSeen) return lines;
  return [...lines.slice(0, shownSeen), `and ${lines.length - shownSeen} more`];
}

function column(title: string, lines: readonly string[]): readonly string[] {
  return lines.map((line, index) => `${(index === 0 ? title : '').padEnd(7)}${shownLine(line)}`);
}
