// A real OIDC server for tests, run in a network namespace of a cluster: `node oidc-server.ts '<JSON settings>'`. People
// are its clients, who get tokens with their own secret; which resource they ask for decides what is in the token.
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:https';
import { Provider } from 'oidc-provider';

export interface OidcServerSettings {
  readonly certificate: string;
  readonly key: string;
  readonly audience: string;
  readonly clientSecret: string;
  /** By name. */
  readonly people: Readonly<Record<string, { readonly groups: readonly string[] }>>;
  /** Each with its own port and the same people. */
  readonly issuers: readonly string[];
}

const settings = JSON.parse(process.argv[2] ?? '{}') as OidcServerSettings;

/** What a token may be asked for. */
const resources: Readonly<Record<string, { readonly audience: string; readonly accessTokenTTL: number }>> = {
  'urn:test:cluster': { audience: settings.audience, accessTokenTTL: 600 },
  'urn:test:elsewhere': { audience: 'elsewhere', accessTokenTTL: 600 },
  'urn:test:soon-over': { audience: settings.audience, accessTokenTTL: 1 },
};

function provider(issuer: string): Provider {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return new Provider(issuer, {
    clients: Object.keys(settings.people).map((name) => ({
      client_id: name,
      client_secret: settings.clientSecret,
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
      id_token_signed_response_alg: 'ES256',
    })),
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig' }] },
    cookies: { keys: ['unused'] },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context: unknown, resource: string) => ({
          scope: '',
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'ES256' } },
          ...resources[resource],
        }),
      },
    },
    extraTokenClaims: (_context: unknown, token: { readonly clientId: string }) => ({
      groups: settings.people[token.clientId]?.groups ?? [],
    }),
  });
}

const listening = settings.issuers.map(
  (issuer) =>
    new Promise<void>((done) => {
      const server = createServer({ cert: settings.certificate, key: settings.key }, provider(issuer).callback());
      server.listen(Number(new URL(issuer).port), '0.0.0.0', done);
    }),
);
await Promise.all(listening);
process.stdout.write('ready\n');
