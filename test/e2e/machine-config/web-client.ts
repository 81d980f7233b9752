// A process of its own that asks a Service at a steady pace, each time over a new connection, from the network of one
// machine, from the first answer until its input ends; then it says what it saw. What fails is asked once more, a
// moment later.
import { request } from 'node:http';
import type { WebReport, WebSettings } from './web-load.ts';

const settings = JSON.parse(process.argv[2] ?? '{}') as WebSettings;
const attemptMs = 2_000;
const retryMs = 250;
const firstAnswerMs = 20_000;
const report: WebReport = { asked: 0, answered: 0, retried: 0, failed: [], answeredBy: [] };
const answeredBy = new Set<string>();
const run = { isOver: false };
const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

function ask(): Promise<string> {
  return new Promise((done, fail) => {
    const headers = settings.host === undefined ? {} : { host: settings.host };
    const sent = request(settings.url, { agent: false, headers }, (answer) => {
      let text = '';
      answer.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
      answer.on('error', fail);
      answer.on('end', () => (answer.statusCode === 200 ? done(text) : fail(new Error(String(answer.statusCode)))));
    });
    sent.setTimeout(attemptMs, () => sent.destroy(new Error(`no answer within ${attemptMs / 1000} s`)));
    sent.on('error', fail);
    sent.end();
  });
}

async function askTwice(): Promise<void> {
  report.asked += 1;
  const reasons: string[] = [];
  for (const attempt of [1, 2]) {
    try {
      answeredBy.add(await ask());
      report.answered += 1;
      return;
    } catch (error) {
      reasons.push(`${new Date().toISOString()} ${error instanceof Error ? error.message : String(error)}`);
    }
    if (attempt === 1) {
      report.retried += 1;
      await pause(retryMs);
    }
  }
  report.failed.push(reasons.join('; '));
}

process.stdin.on('end', () => (run.isOver = true)).resume();

/** The kube-proxy of the machine learns of ready pods a moment after the API does. */
async function firstAnswer(): Promise<void> {
  const endMs = performance.now() + firstAnswerMs;
  for (;;) {
    try {
      await ask();
      return;
    } catch (error) {
      if (run.isOver || performance.now() > endMs) throw error;
      await pause(50);
    }
  }
}

await firstAnswer();
const inFlight = new Set<Promise<void>>();
const startMs = performance.now();
for (let count = 0; !run.isOver; count += 1) {
  await pause(Math.max(0, startMs + (count * 1000) / settings.perSecond - performance.now()));
  const one = askTwice().finally(() => inFlight.delete(one));
  inFlight.add(one);
}
await Promise.all(inFlight);
process.stdout.write(`${JSON.stringify({ ...report, answeredBy: [...answeredBy] })}\n`);
