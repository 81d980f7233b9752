// A process of its own that writes to a cluster at a steady pace and watches what it writes, through the load balancer like
// any client, from the first answer of the API until its input ends; then it says what it saw. It depends on nothing of
// ours but the kubeconfig: whoever judges a handoff must not share its client.
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { parse } from 'yaml';
import type { LoadReport, LoadSettings } from './load-report.ts';

const settings = JSON.parse(process.argv[2] ?? '{}') as LoadSettings;
const namespace = settings.namespace ?? 'fire';
const path = `/api/v1/namespaces/${namespace}/configmaps`;
const attemptMs = 10_000;
const settleMs = 30_000;
/** A refusal may come within a millisecond and last for some: whoever repeats it at once has asked once, not twice. */
const retryMs = 250;

interface Access {
  readonly server: URL;
  readonly ca: Buffer;
  readonly cert: Buffer;
  readonly key: Buffer;
}

interface Call {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly agent?: Agent | false;
}

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
const now = (): number => performance.now();
const at = (): string => new Date().toISOString();

/** The file is there before the machines are; it then has a name that this host does not resolve. */
function readAccess(): Access | undefined {
  try {
    const { clusters, users } = parse(readFileSync(settings.kubeconfig, 'utf8')) as {
      clusters: [{ cluster: Record<string, string> }];
      users: [{ user: Record<string, string> }];
    };
    const field = (from: Record<string, string>, name: string): Buffer => Buffer.from(from[name] ?? '', 'base64');
    const { cluster } = clusters[0];
    const { user } = users[0];
    const server = new URL(cluster['server'] ?? '');
    if (isIP(server.hostname) === 0) return undefined;
    return {
      server,
      ca: field(cluster, 'certificate-authority-data'),
      cert: field(user, 'client-certificate-data'),
      key: field(user, 'client-key-data'),
    };
  } catch {
    return undefined;
  }
}

/** The head of an answer; an error of the connection, also one in the middle, is thrown. */
function open(access: Access, { method, path: target, body, agent }: Call): Promise<IncomingMessage> {
  return new Promise((done, fail) => {
    const { server, ca, cert, key } = access;
    const common = { host: server.hostname, port: server.port, ca, cert, key, method, path: target };
    const headers = { 'content-type': 'application/json' };
    const sent = httpsRequest({ ...common, headers, ...(agent === undefined ? {} : { agent }) }, done);
    sent.on('error', fail);
    sent.setTimeout(attemptMs, () => sent.destroy(new Error(`no answer within ${attemptMs / 1000} s`)));
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function call(access: Access, what: Call): Promise<{ readonly status: number; readonly text: string }> {
  const answer = await open(access, what);
  let text = '';
  for await (const chunk of answer) text += (chunk as Buffer).toString('utf8');
  return { status: answer.statusCode ?? 0, text };
}

const report: LoadReport = {
  seed: settings.seed ?? 0,
  startedAt: '',
  written: 0,
  acknowledged: 0,
  retried: 0,
  retriedFor: [],
  failed: [],
  lost: [],
  longestGapMs: 0,
  longestGapAt: '',
  gaps: [],
  watches: settings.watches,
  cuts: 0,
  longestResumeMs: 0,
  relists: 0,
  missed: [],
};

const acknowledged: string[] = [];
const run = { isOver: false };
let lastAckMs: number | undefined;

function acknowledge(name: string): void {
  const ms = now();
  acknowledged.push(name);
  if (lastAckMs !== undefined) {
    const gapMs = Math.round(ms - lastAckMs);
    if (gapMs > report.longestGapMs) {
      report.longestGapMs = gapMs;
      report.longestGapAt = at();
    }
    if (gapMs >= 500) report.gaps.push({ at: at(), ms: gapMs });
  }
  lastAckMs = ms;
}

async function write(access: Access, agent: Agent, name: string): Promise<void> {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { at: at() } };
  let reason = '';
  for (const attempt of [1, 2]) {
    try {
      // The retry is on a connection of its own: the kept ones may all lead to the same machine.
      const answer = await call(access, { method: 'POST', path, body, agent: attempt === 1 ? agent : false });
      // "Exists already" is the answer to the first attempt, which was lost on its way.
      if (answer.status === 201 || (answer.status === 409 && attempt === 2)) return acknowledge(name);
      reason = `${answer.status} ${answer.text.slice(0, 200)}`;
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
    if (attempt === 1) {
      report.retried += 1;
      if (report.retriedFor.length < 20) report.retriedFor.push({ at: at(), reason });
      await pause(retryMs);
    }
  }
  report.failed.push({ at: at(), reason });
}

async function writeOn(access: Access): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const everyMs = 1000 / settings.writesPerSecond;
  const inFlight = new Set<Promise<void>>();
  const startMs = now();
  for (let count = 0; !run.isOver; count += 1) {
    await pause(Math.max(0, startMs + count * everyMs - now()));
    // While nothing is answered, no more than this is asked: a client waits too.
    while (inFlight.size >= 40) await Promise.race(inFlight);
    report.written += 1;
    const one = write(access, agent, `w-${count}`).finally(() => inFlight.delete(one));
    inFlight.add(one);
  }
  await Promise.all(inFlight);
  agent.destroy();
}

/** One watch for as long as the run lasts, taken up again where it was cut. */
class Watch {
  readonly seen = new Set<string>();
  readonly #access: Access;
  #version: string;
  #cutMs: number | undefined;
  #answer: IncomingMessage | undefined;

  constructor(access: Access, version: string) {
    this.#access = access;
    this.#version = version;
  }

  async run(): Promise<void> {
    while (!run.isOver || this.#isWanted) {
      try {
        await this.#once();
      } catch {
        // Cut; taken up again below.
      }
      if (run.isOver && !this.#isWanted) return;
      if (this.#cutMs === undefined) {
        this.#cutMs = now();
        report.cuts += 1;
      } else await pause(50);
    }
  }

  #isWanted = true;

  stop(): void {
    this.#isWanted = false;
    this.#answer?.destroy();
  }

  async #once(): Promise<void> {
    const query = `watch=1&allowWatchBookmarks=true&timeoutSeconds=3000&resourceVersion=${this.#version}`;
    const answer = await open(this.#access, { method: 'GET', path: `${path}?${query}`, agent: false });
    if (answer.statusCode !== 200) {
      answer.resume();
      if (answer.statusCode === 410) return this.#relist();
      throw new Error(String(answer.statusCode));
    }
    this.#answer = answer;
    answer.socket.setTimeout(0);
    if (this.#cutMs !== undefined)
      report.longestResumeMs = Math.max(report.longestResumeMs, Math.round(now() - this.#cutMs));
    this.#cutMs = undefined;
    let rest = '';
    for await (const chunk of answer) {
      const lines = (rest + (chunk as Buffer).toString('utf8')).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '') await this.#take(line);
    }
  }

  async #take(line: string): Promise<void> {
    const { type, object } = JSON.parse(line) as {
      type: string;
      object: { code?: number; metadata?: { name?: string; resourceVersion?: string } };
    };
    if (type === 'ERROR') {
      if (object.code === 410) await this.#relist();
      throw new Error(`the watch was ended: ${line}`);
    }
    this.#version = object.metadata?.resourceVersion ?? this.#version;
    if (type === 'ADDED') this.seen.add(object.metadata?.name ?? '');
  }

  async #relist(): Promise<void> {
    report.relists += 1;
    const { version, names } = await listAll(this.#access);
    for (const name of names) this.seen.add(name);
    this.#version = version;
  }
}

async function listAll(access: Access): Promise<{ readonly version: string; readonly names: readonly string[] }> {
  const answer = await call(access, { method: 'GET', path, agent: false });
  if (answer.status !== 200) throw new Error(`the list was answered with ${answer.status}`);
  const { metadata, items } = JSON.parse(answer.text) as {
    metadata: { resourceVersion: string };
    items: readonly { metadata: { name: string } }[];
  };
  return { version: metadata.resourceVersion, names: items.map((item) => item.metadata.name) };
}

/** The API is there from the first time that it takes a namespace. */
async function awaitApi(): Promise<Access | undefined> {
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
  while (!run.isOver) {
    const access = readAccess();
    try {
      if (access !== undefined) {
        const { status } = await call(access, { method: 'POST', path: '/api/v1/namespaces', body, agent: false });
        if (status === 201 || status === 409) return access;
      }
    } catch {
      // Not there yet.
    }
    await pause(100);
  }
  return undefined;
}

async function untilAnswered<T>(look: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await look();
    } catch (error) {
      if (run.isOver) throw error;
      await pause(100);
    }
  }
}

async function judge(access: Access, watches: readonly Watch[]): Promise<void> {
  const endMs = now() + settleMs;
  const missing = (watch: Watch): number => acknowledged.filter((name) => !watch.seen.has(name)).length;
  while (now() < endMs && watches.some((watch) => missing(watch) > 0)) await pause(200);
  report.missed = watches.map(missing).filter((count) => count > 0);
  const present = new Set((await listAll(access)).names);
  report.lost = acknowledged.filter((name) => !present.has(name));
  report.acknowledged = acknowledged.length;
}

process.stdin.on('end', () => (run.isOver = true)).resume();
const access = await awaitApi();
if (access !== undefined) {
  report.startedAt = at();
  const { version } = await untilAnswered(() => listAll(access));
  const watches = Array.from({ length: settings.watches }, () => new Watch(access, version));
  const watching = watches.map((watch) => watch.run());
  await writeOn(access);
  await judge(access, watches);
  for (const watch of watches) watch.stop();
  await Promise.all(watching);
}
process.stdout.write(`${JSON.stringify(report)}\n`);
