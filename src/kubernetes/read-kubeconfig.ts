// Reads a kubeconfig: the server, the CA to trust, our credential. Like Go, and unlike the official JavaScript client,
// it accepts a file without a current context: a missing name is the empty name. Files that it points to are read for
// every request, so that a renewed certificate or token is used at once.
import { isAbsolute, join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import type { Files } from '../host/files.ts';
import type { HttpRequest } from '../host/network.ts';
import { Secret } from '../host/secret.ts';

const named = <T extends z.ZodType>(key: string, inner: T) =>
  z.array(z.object({ name: z.string().nullish(), [key]: inner })).nullish();
const cluster = z.object({
  server: z.url({ protocol: /^https?$/ }),
  'certificate-authority': z.string().nullish(),
  'certificate-authority-data': z.string().nullish(),
  'insecure-skip-tls-verify': z.boolean().nullish(),
  'tls-server-name': z.string().nullish(),
  'proxy-url': z.string().nullish(),
});
const user = z.object({
  'client-certificate': z.string().nullish(),
  'client-certificate-data': z.string().nullish(),
  'client-key': z.string().nullish(),
  'client-key-data': z.string().nullish(),
  token: z.string().nullish(),
  tokenFile: z.string().nullish(),
  username: z.string().nullish(),
  password: z.string().nullish(),
});
const context = z.object({ cluster: z.string().nullish(), user: z.string().nullish() });
const schema = z.object({
  'current-context': z.string().nullish(),
  clusters: named('cluster', cluster),
  users: named('user', user.nullish()),
  contexts: named('context', context),
});

export interface ApiAccess {
  readonly server: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: Secret;
  readonly authorization?: Secret;
  readonly serverName?: string;
  readonly proxy?: string;
  readonly isInsecure: boolean;
}

type Cluster = z.infer<typeof cluster>;
type User = Partial<z.infer<typeof user>>;

/** Understood, with its references not yet followed. */
export interface Kubeconfig {
  readonly server: string;
  readonly cluster: Cluster;
  readonly user: User;
  /** Where relative paths start. */
  readonly folder: string;
}

/** Throws a plain Error that says what is wrong with the text. */
export function parseKubeconfig(text: string, folder: string): Kubeconfig {
  const result = schema.safeParse(parse(text));
  const issue = result.error?.issues[0];
  if (!result.success)
    throw new Error(`${issue?.path.join('.') || 'the document'}: ${issue?.message ?? 'not understood'}`);
  const content = result.data;
  const chosen = byName(content.contexts, content['current-context'])?.['context'] as
    | z.infer<typeof context>
    | undefined;
  const at = byName(content.clusters, chosen?.cluster)?.['cluster'] as Cluster | undefined;
  if (at === undefined) throw new Error('its current context does not lead to a cluster');
  const who = byName(content.users, chosen?.user)?.['user'] as User | null | undefined;
  return { server: at.server.replace(/\/+$/, ''), cluster: at, user: who ?? {}, folder };
}

/** The credential as it is now; throws when a file that it points to cannot be read. */
export async function accessOf(files: Files, kubeconfig: Kubeconfig): Promise<ApiAccess> {
  const { cluster: at, user: who, folder } = kubeconfig;
  const read = (data: Maybe, file: Maybe) => dataOrFile(files, folder, data, file);
  const ca = await read(at['certificate-authority-data'], at['certificate-authority']);
  const cert = await read(who['client-certificate-data'], who['client-certificate']);
  const key = await read(who['client-key-data'], who['client-key']);
  const authorization = await authorizationOf(files, folder, who);
  return {
    server: kubeconfig.server,
    isInsecure: at['insecure-skip-tls-verify'] === true,
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key: new Secret(key) }),
    ...(authorization === undefined ? {} : { authorization: new Secret(authorization) }),
    ...(at['tls-server-name'] ? { serverName: at['tls-server-name'] } : {}),
    ...(at['proxy-url'] ? { proxy: at['proxy-url'] } : {}),
  };
}

/** The TLS part of a request: the CA to trust and our certificate. A token is sent in a header instead. */
export function tlsOf(access: ApiAccess): Pick<HttpRequest, 'ca' | 'cert' | 'key' | 'serverName' | 'isInsecure'> {
  return {
    isInsecure: access.isInsecure,
    ...(access.ca === undefined ? {} : { ca: access.ca }),
    ...(access.cert === undefined ? {} : { cert: access.cert }),
    ...(access.key === undefined ? {} : { key: access.key.reveal() }),
    ...(access.serverName === undefined ? {} : { serverName: access.serverName }),
  };
}

type Maybe = string | null | undefined;

function byName<T extends { name?: string | null | undefined }>(list: readonly T[] | null | undefined, name: Maybe) {
  return list?.find((entry) => (entry.name ?? '') === (name ?? ''));
}

async function dataOrFile(files: Files, folder: string, data: Maybe, file: Maybe): Promise<string | undefined> {
  if (data) return Buffer.from(data, 'base64').toString('utf8');
  return file ? files.readText(isAbsolute(file) ? file : join(folder, file)) : undefined;
}

async function authorizationOf(files: Files, folder: string, who: User) {
  const token = who.tokenFile ? (await dataOrFile(files, folder, null, who.tokenFile))?.trim() : who.token;
  if (token) return `Bearer ${token}`;
  if (!who.username) return undefined;
  return `Basic ${Buffer.from(`${who.username}:${who.password ?? ''}`).toString('base64')}`;
}
