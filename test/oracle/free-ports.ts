// Ports for programs that must be told theirs. Taken below the range from which the kernel serves outgoing connections:
// one of those can be gone between our look and the program's start, because a test beside this one called somebody.
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

const [lowest, above] = [10_000, 32_768];
const attempts = 200;

export async function freePorts(count: number): Promise<readonly number[]> {
  const found = new Set<number>();
  for (let attempt = 0; attempt < attempts && found.size < count; attempt += 1) {
    const port = randomInt(lowest, above);
    if (await isFree(port)) found.add(port);
  }
  if (found.size < count) throw new Error(`no ${count} free ports in ${attempts} attempts`);
  return [...found];
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
