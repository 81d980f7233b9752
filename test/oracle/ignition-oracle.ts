// The real Ignition, asked in batches: one process of upstream's own packages reads a question per line and answers
// each with a line. Its binaries are built from upstream/ and found through FIRSTLIGHT_ORACLE_BIN.
import { spawnSync } from 'node:child_process';
import { oracleProgram } from './programs.ts';

export interface OracleEntry {
  readonly kind: 'error' | 'warning' | 'info';
  readonly of?: 'parent' | 'child' | 'merged';
  readonly path: string;
  readonly line?: number;
  readonly column?: number;
  readonly message: string;
}

export interface OracleAnswer {
  readonly verdict: 'error' | 'warning' | 'fine';
  readonly error?: string;
  readonly entries: readonly OracleEntry[];
  readonly config?: unknown;
  readonly misuse?: string;
}

export type OracleQuestion =
  | {
      readonly op: 'validate' | 'convert-up';
      readonly config: string;
      readonly version?: string;
      readonly base64?: true;
    }
  | { readonly op: 'merge'; readonly parent: string; readonly child: string };

export function askOracle(questions: readonly OracleQuestion[]): OracleAnswer[] {
  const input = questions.map((question) => `${JSON.stringify(question)}\n`).join('');
  const run = spawnSync(oracleProgram('ignition-oracle'), { input, encoding: 'utf8', maxBuffer: 1 << 30 });
  if (run.error !== undefined) throw run.error;
  const answers = run.stdout.split('\n').filter((line) => line !== '');
  if (run.status !== 0 || answers.length !== questions.length) {
    throw new Error(`ignition-oracle gave ${answers.length} of ${questions.length} answers: ${run.stderr}`);
  }
  return answers.map((line) => {
    const answer = JSON.parse(line) as OracleAnswer;
    if (answer.misuse !== undefined) throw new Error(`ignition-oracle did not understand: ${answer.misuse}`);
    return answer;
  });
}
