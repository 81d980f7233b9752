// A user of Secrets during a rotation of their key: writes one, reads it back and lists all, without a pause, each time
// over a new connection, so that the load balancer leads to every master in turn. It shares no client with the program.
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { parse } from 'yaml';
import { type TrustCluster, trustKubeconfig } from './trust-cluster.ts';

export interface SecretUser {
  /** Ends; what was refused, and how many rounds there were. */
  readonly stop: () => Promise<{ readonly refused: readonly string[]; readonly rounds: number }>;
}

const path = '/api/v1/namespaces/default/secrets';

export function useSecrets(cluster: TrustCluster): SecretUser {
  const access = accessOf(trustKubeconfig(cluster));
  const refused: string[] = [];
  let rounds = 0;
  const end = new AbortController();
  const round = async (): Promise<void> => {
    const name = `used-${rounds % 10}`;
    const word = Buffer.from(`word ${rounds}`).toString('base64');
    const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name }, data: { word } };
    const apply = `${path}/${name}?fieldManager=user&force=true`;
    const written = await ask(access, { method: 'PATCH', path: apply, body });
    if (written.status !== 200 && written.status !== 201) refused.push(`write: ${written.status} ${written.text}`);
    const read = await ask(access, { method: 'GET', path: `${path}/${name}` });
    if (read.status !== 200 || !read.text.includes(word)) refused.push(`read: ${read.status} ${read.text}`);
    const listed = await ask(access, { method: 'GET', path: '/api/v1/secrets' });
    if (listed.status !== 200) refused.push(`list: ${listed.status} ${listed.text}`);
  };
  const work = (async () => {
    for (; !end.signal.aborted; rounds += 1) await round();
  })();
  return {
    stop: async () => {
      end.abort();
      await work;
      for (let n = 0; n < 10; n += 1) await ask(access, { method: 'DELETE', path: `${path}/used-${n}` });
      return { refused, rounds };
    },
  };
}

interface Access {
  readonly server: URL;
  readonly ca: Buffer;
  readonly cert: Buffer;
  readonly key: Buffer;
}

function accessOf(kubeconfig: string): Access {
  const { clusters, users } = parse(readFileSync(kubeconfig, 'utf8')) as {
    clusters: [{ cluster: Record<string, string> }];
    users: [{ user: Record<string, string> }];
  };
  const field = (from: Record<string, string>, name: string): Buffer => Buffer.from(from[name] ?? '', 'base64');
  return {
    server: new URL(clusters[0].cluster['server'] ?? ''),
    ca: field(clusters[0].cluster, 'certificate-authority-data'),
    cert: field(users[0].user, 'client-certificate-data'),
    key: field(users[0].user, 'client-key-data'),
  };
}

interface Question {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
}

/** Status 0 and the reason where there was no answer. */
function ask(
  { server, ...credentials }: Access,
  { method, path: target, body }: Question,
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((done) => {
    const headers = body === undefined ? {} : { 'content-type': 'application/apply-patch+yaml' };
    const where = { host: server.hostname, port: server.port, method, path: target, agent: false as const };
    const sent = request({ ...where, ...credentials, headers }, (answer) => {
      let text = '';
      answer.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
      answer.on('end', () => done({ status: answer.statusCode ?? 0, text: text.slice(0, 4_000) }));
    });
    sent.setTimeout(20_000, () => sent.destroy(new Error('no answer within 20 s')));
    sent.on('error', (error) => done({ status: 0, text: error.message }));
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
