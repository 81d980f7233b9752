// The config server against a bare node:https server that answers with the same bytes: fresh handshakes, and a thousand
// machines at once. Kept-alive connections are not measured: a machine asks once in its life. Both servers are processes
// on loopback, asked in turns by the same client, so that the ratio of a round is taken in the same second.
// `node bench/config-server.ts` prints a table; `-o json` the figures; `--rounds N` and `--seconds S` change the length,
// `--clients N` how many ask at a time.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { createSecureContext, type SecureContext } from 'node:tls';
import { parseArgs } from 'node:util';
import { configServerEnvironment } from '../src/machine-software/bootstrap-units.ts';
import { ask, bearer, makeLab, serveArguments, tokens } from '../test/oracle/config-server-lab.ts';
import {
  type Client,
  type Contestant,
  exchange,
  machines,
  memoryMb,
  openConnection,
  type Rush,
  rush,
  start,
} from './config-server-clients.ts';
import { type Spread, shown, spread } from './measure.ts';
import { processCpu } from './process-cpu.ts';

const { values: given } = parseArgs({
  options: {
    rounds: { type: 'string', default: '25' },
    seconds: { type: 'string', default: '0.4' },
    clients: { type: 'string', default: '32' },
    output: { type: 'string', short: 'o', default: 'text' },
  },
});
/** Many short turns: a host that is slow for a second is slow for both. */
const rounds = Number(given.rounds);
const roundMs = Number(given.seconds) * 1000;
/** Enough to keep either server busy. */
const clients = Number(given.clients);

/** The whole of the opponent. */
const bareServer = `
import { createServer } from 'node:https';
import { readFileSync } from 'node:fs';
const [certificate, key, body] = process.argv.slice(1).map((path) => readFileSync(path));
const server = createServer({ cert: certificate, key }, (request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
});
server.listen({ host: '127.0.0.1', port: 0, backlog: 4096 }, () => console.error(JSON.stringify({ port: server.address().port })));
`;

/** Of the process so far. */
function cpuMs({ process: { pid } }: Contestant): number {
  return processCpu(pid).seconds * 1000;
}

interface Rate {
  readonly perSecond: number;
  readonly cpuMsEach: number;
}

/** One client in one round, from an address of its own as a machine has one: how often it was served. */
async function askFresh(client: Client, from: string, isOver: () => boolean): Promise<number> {
  let count = 0;
  while (!isOver()) {
    const socket = await openConnection(client, from);
    if ((await exchange(socket)) !== 200) throw new Error('not served');
    socket.destroy();
    count += 1;
  }
  return count;
}

async function measure(contestant: Contestant, context: SecureContext): Promise<Rate> {
  const startMs = performance.now();
  const startCpuMs = cpuMs(contestant);
  const isOver = (): boolean => performance.now() - startMs >= roundMs;
  const client = { context, port: contestant.port };
  const counts = await Promise.all(
    Array.from({ length: clients }, (_, n) => askFresh(client, `127.2.0.${n + 1}`, isOver)),
  );
  const count = counts.reduce((sum, one) => sum + one, 0);
  const seconds = (performance.now() - startMs) / 1000;
  return { perSecond: count / seconds, cpuMsEach: (cpuMs(contestant) - startCpuMs) / count };
}

interface Compared {
  readonly ours: Spread;
  readonly bare: Spread;
  /** Of each round by itself. */
  readonly ratio: Spread;
  readonly cpuRatio: Spread;
  /** Microseconds of processor time per answer, all threads. */
  readonly oursCpu: Spread;
  readonly bareCpu: Spread;
}

async function compare(pair: readonly [Contestant, Contestant], context: SecureContext): Promise<Compared> {
  const results: (readonly [Rate, Rate])[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    // The first of the two changes from round to round, and the first round only warms up.
    const order = round % 2 === 0 ? pair : ([pair[1], pair[0]] as const);
    const first = await measure(order[0], context);
    const second = await measure(order[1], context);
    if (round > 0) results.push(round % 2 === 0 ? [first, second] : [second, first]);
  }
  return {
    ours: spread(results.map(([ours]) => ours.perSecond)),
    bare: spread(results.map(([, bare]) => bare.perSecond)),
    ratio: spread(results.map(([ours, bare]) => ours.perSecond / bare.perSecond)),
    cpuRatio: spread(results.map(([ours, bare]) => bare.cpuMsEach / ours.cpuMsEach)),
    oursCpu: spread(results.map(([ours]) => ours.cpuMsEach * 1000)),
    bareCpu: spread(results.map(([, bare]) => bare.cpuMsEach * 1000)),
  };
}

async function main(): Promise<void> {
  using lab = makeLab();
  lab.write('log/about', 'beside what the server watches');
  lab.write('settings.json', JSON.stringify({ outstandingTokens: 10_000_000 }));
  // The bundle: it is what machines run, and it needs a third less memory than the sources.
  const root = new URL('..', import.meta.url).pathname;
  execFileSync(process.execPath, [`${root}tools/bundle.ts`, lab.at('bundle')], { cwd: root, stdio: 'ignore' });
  const program = lab.at('bundle/firstlight.mjs');
  const context = createSecureContext({ ca: lab.rootCa.certificatePem });
  const serve = [program, ...serveArguments(lab, 25_000 + (process.pid % 5_000)), '--log-level', 'info'];
  const started: Contestant[] = [];
  try {
    const ours = await start(lab, 'config server', { args: serve, environment: configServerEnvironment });
    started.push(ours);
    const { body } = await ask(lab, ours, '/config/master', bearer(tokens.master));
    writeFileSync(lab.at('body'), body);
    const files = ['tls/machine-config-server.crt', 'tls/machine-config-server.key', 'body'].map((name) =>
      lab.at(name),
    );
    const bare = await start(lab, 'bare node:https', {
      args: ['--input-type=module', '-e', bareServer, ...files],
      // Both as the unit starts ours.
      environment: configServerEnvironment,
    });
    started.push(bare);
    const pair = [ours, bare] as const;

    // First, while the process is as young as on a machine that just booted.
    const rushes = { ours: await rush(ours, context), bare: await rush(bare, context) };
    const memory = { ours: memoryMb(ours, 'VmHWM'), bare: memoryMb(bare, 'VmHWM') };
    const handshakes = await compare(pair, context);
    const after = { ours: memoryMb(ours, 'VmHWM'), bare: memoryMb(bare, 'VmHWM') };
    report({ bodyBytes: Buffer.byteLength(body), handshakes, rushes, memory, after });
  } finally {
    for (const { process: child } of started) child.kill('SIGKILL');
  }
}

interface Figures {
  readonly bodyBytes: number;
  readonly handshakes: Compared;
  readonly rushes: { readonly ours: Rush; readonly bare: Rush };
  readonly memory: { readonly ours: number; readonly bare: number };
  readonly after: { readonly ours: number; readonly bare: number };
}

function report(figures: Figures): void {
  const cpu = `${cpus().length} × ${cpus()[0]?.model}`;
  if (given.output === 'json') {
    console.log(
      JSON.stringify({ node: process.version, cpu, rounds, roundMs, clients, machines, ...figures }, null, 2),
    );
    return;
  }
  const line = (name: string, one: Compared): string =>
    [
      name,
      `  config server   ${shown(one.ours, '/s')}, ${shown(one.oursCpu, 'µs of CPU each')}`,
      `  bare node:https ${shown(one.bare, '/s')}, ${shown(one.bareCpu, 'µs of CPU each')}`,
      `  ratio           ${shown(one.ratio, 'by time', 2)}, ${shown(one.cpuRatio, 'by CPU', 2)}`,
    ].join('\n');
  const burst = (name: string, one: Rush): string =>
    `  ${name} served ${one.served} of ${machines}, p50 ${one.p50Ms.toFixed(0)} ms, p99 ${one.p99Ms.toFixed(0)} ms`;
  const { rushes, memory, after } = figures;
  console.log(
    [
      `node ${process.version}, ${cpu}; ${figures.bodyBytes} bytes, ${clients} clients, ${rounds} rounds of ${roundMs} ms each in turns`,
      line('fresh handshakes, one request each', figures.handshakes),
      `${machines} machines in the same moment`,
      burst('config server  ', rushes.ours),
      burst('bare node:https', rushes.bare),
      'most memory',
      `  config server   ${memory.ours.toFixed(0)} MB with the ${machines} machines, ${after.ours.toFixed(0)} MB at the end`,
      `  bare node:https ${memory.bare.toFixed(0)} MB with the ${machines} machines, ${after.bare.toFixed(0)} MB at the end`,
    ].join('\n'),
  );
}

await main();
