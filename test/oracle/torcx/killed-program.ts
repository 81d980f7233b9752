// The program, killed by SIGKILL at the n-th point (KILL_AT) where it is about to change something, is in the middle of
// writing a file, or is about to ask systemd for something. KILL_AT=0: not at all; then it prints the number of points.
import { runCli } from '../../../src/cli/frame/run.ts';
import type { Bus } from '../../../src/host/bus.ts';
import type { Files } from '../../../src/host/files.ts';
import { realHost } from '../../../src/host/real/real-host.ts';
import { realTerminal } from '../../../src/host/real/terminal.ts';

const killAt = Number(process.env['KILL_AT']);
let points = 0;
function point(): void {
  points += 1;
  if (points === killAt) process.kill(process.pid, 'SIGKILL');
}

async function* halved(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) {
    yield chunk.subarray(0, chunk.length / 2);
    point();
    yield chunk.subarray(chunk.length / 2);
  }
}

async function* once(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content;
}

function mortalFiles(files: Files): Files {
  const before =
    <Args extends unknown[], T>(operation: (...args: Args) => T) =>
    (...args: Args): T => {
      point();
      return operation(...args);
    };
  return {
    ...files,
    write: before((path, content, options) => files.writeStream(path, halved(once(Buffer.from(content))), options)),
    writeStream: before((path, content, options) => files.writeStream(path, halved(content), options)),
    makeFolder: before((path, options) => files.makeFolder(path, options)),
    remove: before((path) => files.remove(path)),
    lockFile: before((path) => files.lockFile(path)),
  };
}

function mortalBus(bus: Bus): Bus {
  return {
    connect: async (options) => {
      const connection = await bus.connect(options);
      const call: typeof connection.call = (request) => {
        if (request.destination === 'org.freedesktop.systemd1') point();
        return connection.call(request);
      };
      return { ...connection, call };
    },
  };
}

const interrupt = new AbortController();
process.once('SIGTERM', () => interrupt.abort('SIGTERM'));
const host = realHost();
process.exitCode = await runCli({
  argv: process.argv.slice(2),
  loadHost: async () => ({ ...host, files: mortalFiles(host.files), bus: mortalBus(host.bus) }),
  terminal: { ...realTerminal(), out: () => {} },
  interrupt: interrupt.signal,
});
process.stdout.write(`points ${points}\n`);
