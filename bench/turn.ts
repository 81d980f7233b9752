// A host on which others measure too: whoever sets FIRSTLIGHT_BENCH_LOCK to a file has one thing at a time measured
// among all who do, and lets the others have their turn between two rounds.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

export async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const file = process.env['FIRSTLIGHT_BENCH_LOCK'];
  if (file === undefined) return work();
  const holder = spawn('flock', [file, 'sh', '-c', 'echo held; cat'], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    await once(holder.stdout, 'data');
    return await work();
  } finally {
    holder.stdin.end();
    await once(holder, 'close');
  }
}
