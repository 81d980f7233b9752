// An issuer of tokens in the network of a cluster: a real OIDC server at a name that the cluster's own DNS resolves, the
// section of the install-config that names it, and the tokens that people get from it.
import { execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { eventually, makeCa, type TestCa } from '../machine-lab.ts';
import type { OidcServerSettings } from './oidc-server.ts';

const audience = 'kubernetes';
const clientSecret = 'only-for-tests';
export const readersGroup = 'cluster-readers';

export type TokenKind = 'cluster' | 'elsewhere' | 'soon-over';

export interface Issuer {
  readonly tokenOf: (person: string, kind: TokenKind, issuer?: 'ours' | 'other') => string;
  readonly stop: () => void;
}

export class IssuerLab {
  readonly #folder: string;
  readonly #host: string;
  readonly #ca: TestCa;

  /** `domain`: of the cluster; everything below `apps` in it is the load balancer's address. */
  constructor(folder: string, domain: string) {
    this.#folder = folder;
    this.#host = `login.apps.${domain}`;
    this.#ca = makeCa(folder);
    writeFileSync(this.#caFile, this.#ca.certificate);
  }

  get #caFile(): string {
    return join(this.#folder, 'issuer-ca.crt');
  }

  #url(issuer: 'ours' | 'other'): string {
    return `https://${this.#host}:${issuer === 'ours' ? 9443 : 9444}`;
  }

  /** JSON is YAML. */
  installConfig(): string {
    const jwt = {
      issuer: { url: this.#url('ours'), certificateAuthority: this.#ca.certificate, audiences: [audience] },
      claimValidationRules: [
        { expression: 'claims.exp - claims.iat <= 3600', message: 'a token lives an hour at most' },
      ],
      claimMappings: {
        username: { claim: 'sub', prefix: 'oidc:' },
        groups: { claim: 'groups', prefix: '' },
      },
      userValidationRules: [{ expression: "user.username != 'oidc:mallory'", message: 'mallory is not welcome' }],
    };
    return `authentication: ${JSON.stringify({ jwt: [jwt] })}\n`;
  }

  async serve(infraId: string): Promise<Issuer> {
    const inNetwork = [`--net=/run/netns/firstlight.${infraId}`, process.execPath];
    const settings: OidcServerSettings = {
      ...this.#ca.issue(this.#host),
      audience,
      clientSecret,
      people: {
        ada: { groups: [readersGroup] },
        eve: { groups: ['system:masters'] },
        mallory: { groups: [readersGroup] },
      },
      issuers: [this.#url('ours'), this.#url('other')],
    };
    const args = [...inNetwork, resolve('test/e2e/login/oidc-server.ts'), JSON.stringify(settings)];
    // It says on its error output that it is meant for development.
    const child = spawn('nsenter', args, { stdio: ['ignore', 'pipe', 'ignore'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
    await eventually('the start of the issuer', 30, async () => (output.includes('ready\n') ? true : undefined));
    const script = resolve('test/e2e/login/oidc-token.ts');
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: this.#caFile };
    return {
      tokenOf: (person, kind, issuer = 'ours') =>
        execFileSync('nsenter', [...inNetwork, script, this.#url(issuer), person, clientSecret, `urn:test:${kind}`], {
          encoding: 'utf8',
          env,
        }),
      stop: () => void child.kill(),
    };
  }
}
