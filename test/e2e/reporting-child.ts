// A program that a test lets run beside it: it works until its input ends, and then prints its report as JSON.
import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

export interface ReportingChild<Report> {
  readonly end: () => Promise<Report>;
  /** Ends it without a word, for a test that failed before. */
  readonly kill: () => void;
}

export function reportingChild<Report>(
  child: ChildProcessByStdio<Writable, Readable, null>,
  who: string,
): ReportingChild<Report> {
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
  const closed = new Promise<number | null>((done) => child.on('close', done));
  return {
    end: async () => {
      child.stdin.end();
      const code = await closed;
      if (code !== 0) throw new Error(`${who} ended with ${code}`);
      return JSON.parse(text) as Report;
    },
    kill: () => void child.kill('SIGKILL'),
  };
}
