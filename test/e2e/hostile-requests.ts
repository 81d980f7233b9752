// A stranger inside the cluster's network who holds a pool token: what the config server gives it, and the certificate
// requests that it then makes with openssl and kubectl, as somebody would who wants to be more than one worker.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { requestObject, signingRequest } from './certificate-request.ts';
import { cli, inside, startCli } from './machine-lab.ts';

export interface Stranger {
  readonly dir: string;
  readonly infraId: string;
  readonly scratch: string;
}

const node = '/usr/local/lib/firstlight/bin/node';

interface Pointer {
  readonly ignition: {
    readonly config: {
      readonly merge: readonly [
        { readonly source: string; readonly httpHeaders: readonly [{ readonly name: string; readonly value: string }] },
      ];
    };
    readonly security: { readonly tls: { readonly certificateAuthorities: readonly [{ readonly source: string }] } };
  };
}

/** Asks as a machine would, from inside one: a served config has a bootstrap token of its own. */
export async function freshToken({ dir, infraId }: Stranger, machine: string): Promise<string> {
  const { ignition } = JSON.parse(readFileSync(join(dir, 'worker.ign'), 'utf8')) as Pointer;
  const [{ source, httpHeaders }] = ignition.config.merge;
  const ca = ignition.security.tls.certificateAuthorities[0].source.replace(/^data:[^,]*,/, '');
  const isBase64 = /^data:[^,]*;base64/.test(ignition.security.tls.certificateAuthorities[0].source);
  const pem = isBase64 ? Buffer.from(ca, 'base64').toString('utf8') : decodeURIComponent(ca);
  const script = `
    const options = ${JSON.stringify({ ca: pem, headers: { [httpHeaders[0].name]: httpHeaders[0].value } })};
    require('node:https').get(${JSON.stringify(source)}, options, (answer) => answer.pipe(process.stdout));`;
  const encoded = Buffer.from(script).toString('base64');
  return tokenIn(await inside(infraId, machine, `echo ${encoded} | base64 -d | ${node} -`));
}

/** Of a served config, or of the kubeconfig that it leaves on a machine. */
export function tokenIn(text: string): string {
  const [found] = /[a-z0-9]{6}\.[a-z0-9]{16}/.exec(decodeURIComponent(plain(text))) ?? [];
  if (found === undefined) throw new Error(`no bootstrap token in: ${text.slice(0, 300)}`);
  return found;
}

/** Files of a config may be base64; a token in one is found only after decoding. */
function plain(text: string): string {
  const decoded = [...text.matchAll(/;base64,([A-Za-z0-9+/=]+)/g)].map(([, data = '']) =>
    Buffer.from(data, 'base64').toString('utf8'),
  );
  return [text, ...decoded].join('\n').replaceAll('%', '%25');
}

export interface HostileRequest {
  readonly name: string;
  readonly subject: string;
  readonly usages?: readonly string[];
}

/** Creates the request with the token's own identity; what kubectl said when it could not. */
export async function ask(stranger: Stranger, token: string, request: HostileRequest): Promise<string> {
  const { scratch, dir } = stranger;
  const kubeconfig = join(scratch, 'stranger.kubeconfig');
  const mine = parse(readFileSync((await cli('kubeconfig', '--dir', dir)).trim(), 'utf8')) as {
    users: readonly { name: string }[];
  };
  const users = mine.users.map(({ name }) => ({ name, user: { token } }));
  writeFileSync(kubeconfig, stringify({ ...mine, users }));
  const pem = signingRequest(join(scratch, 'stranger.key'), request.subject);
  const file = join(scratch, `${request.name}.json`);
  const signerName = 'kubernetes.io/kube-apiserver-client-kubelet';
  const usages = request.usages ?? ['digital signature', 'client auth'];
  writeFileSync(file, JSON.stringify(requestObject(request.name, pem, { signerName, usages })));
  const { code, stderr } = await startCli(['kubectl', '--dir', dir, '--kubeconfig', kubeconfig, 'create', '-f', file])
    .outcome;
  return code === 0 ? '' : stderr;
}
