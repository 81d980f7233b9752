// Whether an image can be had: containerd has it already, or a registry answers for its manifest. Asks the same hosts
// in the same order as containerd (hosts.toml) and with the same credentials as the kubelet; pulls nothing.
import { parse as parseToml } from 'smol-toml';
import { z } from 'zod';
import { containerdSocket, kubeletPullSecret, registryHostsFolder } from '../../contract/machine-paths.ts';
import { isError } from '../../errors/firstlight-error.ts';
import { hostErrors } from '../../host/errors.ts';
import type { Host } from '../../host/host.ts';
import { jsonIfValid } from '../../host/json-if-valid.ts';
import type { HttpAnswer, HttpRequest } from '../../host/network.ts';
import { proxyFor } from '../../host/proxy-variables.ts';
import type { Reached, RegistryFacts } from './facts.ts';
import { reached } from './reached.ts';

export interface RegistryLook {
  readonly host: Host;
  /** Variables that may name a proxy. */
  readonly proxy: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

interface ImageName {
  readonly registry: string;
  readonly repository: string;
  /** A tag or a digest. */
  readonly reference: string;
}

/** The parts of an image name, by Docker's rules for what is left out. */
export function readImageName(image: string): ImageName {
  const [first = '', ...rest] = image.split('/');
  const hasRegistry = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost');
  const registry = hasRegistry ? first : 'docker.io';
  const path = hasRegistry ? rest.join('/') : image;
  const [, name = path, tag, digest] = /^([^@:]+)(?::([^@]+))?(?:@(.+))?$/.exec(path) ?? [];
  const repository = registry === 'docker.io' && !name.includes('/') ? `library/${name}` : name;
  return { registry, repository, reference: digest ?? tag ?? 'latest' };
}

export async function lookAtRegistries(
  look: RegistryLook,
  images: readonly string[],
): Promise<readonly RegistryFacts[]> {
  const present = images.length === 0 ? new Set<string>() : await presentImages(look.host);
  return Promise.all(
    images.map(async (image): Promise<RegistryFacts> => {
      const { registry } = readImageName(image);
      return { image, registry, answer: present.has(image) ? 'present' : await askRegistries(look, image) };
    }),
  );
}

async function presentImages({ processes }: Host): Promise<ReadonlySet<string>> {
  const args = ['--address', containerdSocket, '--connect-timeout', '2s', '-n', 'k8s.io', 'images', 'list', '-q'];
  try {
    const { code, stdout } = await processes.run('ctr', args, { timeoutMs: 5_000 });
    return new Set(code === 0 ? stdout.split('\n') : []);
  } catch (error) {
    // Not every host has containerd before the change.
    if (isError(error, hostErrors.PROGRAM_MISSING)) return new Set();
    throw error;
  }
}

interface RegistryHost {
  /** With the path of the API. */
  readonly url: string;
  readonly ca?: string;
}

async function askRegistries(look: RegistryLook, image: string): Promise<Reached<number>> {
  const name = readImageName(image);
  let last: Reached<number> = { status: 'unreached', stage: 'connect', detail: 'no host is configured for it' };
  for (const each of await hostsOf(look.host, name.registry)) {
    last = await reached(() => askManifest(look, each, name));
    if (last.status === 'answered' && last.value === 200) return last;
  }
  return last;
}

const hostsFile = z.object({
  server: z.string().optional(),
  host: z
    .record(
      z.string(),
      z.looseObject({
        ca: z.union([z.string(), z.array(z.string())]).optional(),
        override_path: z.boolean().optional(),
      }),
    )
    .default({}),
});

/** Mirrors first, the registry itself last. */
async function hostsOf({ files }: Host, registry: string): Promise<readonly RegistryHost[]> {
  const server = registry === 'docker.io' ? 'https://registry-1.docker.io' : `https://${registry}`;
  for (const folder of [registry, '_default']) {
    const content = await files.readIfPresent(`${registryHostsFolder}/${folder}/hosts.toml`);
    if (content === undefined) continue;
    const read = hostsFile.safeParse(parseToml(Buffer.from(content).toString('utf8'))).data;
    if (read === undefined) continue;
    const mirrors = Object.entries(read.host).map(async ([url, { ca, override_path: isWhole = false }]) => {
      const [caFile] = [ca ?? []].flat();
      const caContent = caFile === undefined ? undefined : await files.readIfPresent(caFile);
      return {
        url: isWhole ? url : `${url}/v2`,
        ...(caContent === undefined ? {} : { ca: Buffer.from(caContent).toString('utf8') }),
      };
    });
    return [...(await Promise.all(mirrors)), { url: `${read.server ?? server}/v2` }];
  }
  return [{ url: `${server}/v2` }];
}

const manifestTypes = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');
const timeoutMs = 10_000;

async function askManifest(look: RegistryLook, at: RegistryHost, name: ImageName): Promise<number> {
  const url = `${at.url}/${name.repository}/manifests/${name.reference}`;
  const ask = (authorization?: string): Promise<HttpAnswer> =>
    send(look, at, {
      url,
      method: 'HEAD',
      headers: { accept: manifestTypes, ...(authorization === undefined ? {} : { authorization }) },
    });
  const basic = await basicCredentials(look.host, name.registry);
  const first = await ask();
  if (first.status !== 401) return first.status;
  const challenge = first.headers['www-authenticate'] ?? '';
  if (/^Basic/i.test(challenge)) return basic === undefined ? 401 : (await ask(basic)).status;
  const token = await bearerToken(look, { challenge, basic });
  return token === undefined ? 401 : (await ask(`Bearer ${token}`)).status;
}

function send({ host, proxy, signal }: RegistryLook, { ca }: RegistryHost, request: HttpRequest): Promise<HttpAnswer> {
  const through = proxyFor(request.url, proxy);
  return host.network.request({
    ...request,
    timeoutMs,
    signal,
    ...(ca === undefined ? {} : { ca }),
    ...(through === undefined ? {} : { proxy: through }),
  });
}

const tokenAnswer = z.object({ token: z.string().optional(), access_token: z.string().optional() });

interface Challenged {
  readonly challenge: string;
  readonly basic: string | undefined;
}

/** A registry names who gives tokens for what; that server takes the credentials. */
async function bearerToken(look: RegistryLook, { challenge, basic }: Challenged): Promise<string | undefined> {
  const field = (name: string): string | undefined => new RegExp(`${name}="([^"]*)"`).exec(challenge)?.[1];
  const realm = field('realm');
  if (realm === undefined || !URL.canParse(realm)) return undefined;
  const url = new URL(realm);
  for (const name of ['service', 'scope']) url.searchParams.set(name, field(name) ?? '');
  const headers = basic === undefined ? {} : { authorization: basic };
  const { status, body } = await send(look, { url: realm }, { url: url.href, headers });
  const answer = status === 200 ? tokenAnswer.safeParse(jsonIfValid(body)).data : undefined;
  return answer?.token ?? answer?.access_token;
}

const pullSecret = z.object({ auths: z.record(z.string(), z.looseObject({ auth: z.string().optional() })) });

async function basicCredentials({ files }: Host, registry: string): Promise<string | undefined> {
  const content = await files.readIfPresent(kubeletPullSecret);
  const auths = pullSecret.safeParse(jsonIfValid(content ?? '')).data?.auths ?? {};
  const names = registry === 'docker.io' ? [registry, 'https://index.docker.io/v1/'] : [registry];
  const auth = names.map((name) => auths[name]?.auth).find((value) => value !== undefined);
  return auth === undefined ? undefined : `Basic ${auth}`;
}
