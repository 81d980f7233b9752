// What to keep of a failed tool's output: the end, where compilers and packagers say what was wrong.
import type { RunResult } from '../../host/processes.ts';

const linesKept = 12;

export function tailOf(result: RunResult): string {
  const text = result.stderr.trim() === '' ? result.stdout : result.stderr;
  const lines = text.trim().split('\n').slice(-linesKept).join('\n');
  const how = result.timedOut
    ? 'it took too long'
    : result.signal === undefined
      ? `exit status ${result.code}`
      : `ended by ${result.signal}`;
  return lines === '' ? how : `${how}\n${lines}`;
}
