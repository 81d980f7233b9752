// Asks an issuer for a token and prints it: `node oidc-token.ts ISSUER NAME SECRET RESOURCE`, in the network namespace
// that the issuer is in. The name of the issuer is known to the cluster's DNS and not to this host, so it is not asked.
import { request } from 'node:https';

const [, , issuer = '', name = '', secret = '', resource = ''] = process.argv;

interface Question {
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

function ask<T>(url: string, { method, headers = {}, body }: Question): Promise<T> {
  return new Promise((done, fail) => {
    const sent = request(
      url,
      { method, headers, lookup: (_name, _options, found) => found(null, [{ address: '127.0.0.1', family: 4 }]) },
      (answer) => {
        let text = '';
        answer.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
        answer.on('end', () =>
          answer.statusCode === 200
            ? done(JSON.parse(text) as T)
            : fail(new Error(`${url} answers ${answer.statusCode ?? 0}: ${text}`)),
        );
      },
    );
    sent.on('error', fail);
    sent.end(body);
  });
}

const { token_endpoint: endpoint } = await ask<{ readonly token_endpoint: string }>(
  `${issuer}/.well-known/openid-configuration`,
  { method: 'GET' },
);
const { access_token: token } = await ask<{ readonly access_token: string }>(endpoint, {
  method: 'POST',
  headers: {
    authorization: `Basic ${Buffer.from(`${name}:${secret}`).toString('base64')}`,
    'content-type': 'application/x-www-form-urlencoded',
  },
  body: String(new URLSearchParams({ grant_type: 'client_credentials', resource })),
});
process.stdout.write(token);
