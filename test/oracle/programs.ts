// Where the real programs are that judge us. ./check builds them and says where; a missing one is a failure, not a skip.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** A program that ./check built from its pinned sources, e.g. `ignition-validate`. */
export function oracleProgram(name: string): string {
  const folder = process.env['FIRSTLIGHT_ORACLE_BIN'];
  if (folder === undefined || folder === '') {
    throw new Error('FIRSTLIGHT_ORACLE_BIN is not set: run ./check, which builds the oracles and sets it');
  }
  const path = join(folder, name);
  if (!existsSync(path)) throw new Error(`${path} is missing: run ./check, which builds it`);
  return path;
}

export interface Verdict {
  readonly code: number | null;
  readonly output: string;
}

export function judge(program: string, args: readonly string[], input?: string): Verdict {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    maxBuffer: 64 * 1024 * 1024,
    encoding: 'utf8',
    ...(input === undefined ? {} : { input }),
  });
  if (error !== undefined) throw error;
  return { code: status, output: `${stdout}${stderr}` };
}
