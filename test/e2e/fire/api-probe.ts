// A new connection to the API through the load balancer, as any client makes one.
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';

const patienceMs = 3_000;

/** The status of /readyz, or why there is none. */
export function askApi(dir: string): Promise<number | string> {
  const text = readFileSync(join(dir, 'auth/kubeconfig'), 'utf8');
  const port = /server: https:\/\/127\.0\.0\.1:(\d+)/.exec(text)?.[1];
  const ca = Buffer.from(/certificate-authority-data: (\S+)/.exec(text)?.[1] ?? '', 'base64');
  return new Promise((done) => {
    const sent = request({ host: '127.0.0.1', port, ca, path: '/readyz', agent: false }, (answer) => {
      answer.resume();
      done(answer.statusCode ?? 0);
    });
    sent.setTimeout(patienceMs, () => sent.destroy(new Error(`no answer within ${patienceMs / 1000} s`)));
    sent.on('error', (error) => done(error.message));
    sent.end();
  });
}

/** The answers of so many connections, one after the other, that were not a plain yes. */
export async function unansweredOf(dir: string, count: number): Promise<readonly (number | string)[]> {
  const answers: (number | string)[] = [];
  for (let asked = 0; asked < count; asked += 1) answers.push(await askApi(dir));
  return answers.filter((answer) => answer !== 200);
}
