// Binaries that upstream projects publish, by URL templates. One short probe per host and run decides whether the host
// can be reached. A download must match the checksum that is published beside it; that checksum is trusted because of
// TLS only, while `go build` checks against the pinned go.sum.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { HttpStream } from '../../host/network.ts';
import { type BuildMethod, goArchitecture, type MakeOptions, type ReleaseBuilder } from '../build/builder.ts';
import { runTool } from '../build/run-tool.ts';
import type { EntryFacts } from '../cache/cache.ts';
import { releaseErrors } from '../errors.ts';
import { linkedModules } from './go.ts';
import type { Part } from './parts.ts';

export interface OfficialSource {
  /** `{version}`, `{arch}` and, for single files, `{file}` are filled in. */
  readonly url: string;
  /** A text with the SHA-256 of the URL, alone or in lines of `digest  name`. */
  readonly checksumUrl: string;
  readonly packing: 'tar.gz' | 'binary';
  /** File name → path in the archive, for every binary of the part. */
  readonly files: Readonly<Record<string, string>>;
}

const same = (...names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, name]));
const github = (project: string, archive: string): string =>
  `https://github.com/${project}/releases/download/v{version}/${archive}`;

/** Only projects that publish exactly what we would compile: not Ignition, our pause and our plugin set of CoreDNS. */
export const officialSources: Readonly<Record<string, OfficialSource>> = {
  kubernetes: {
    url: 'https://dl.k8s.io/release/v{version}/bin/linux/{arch}/{file}',
    checksumUrl: 'https://dl.k8s.io/release/v{version}/bin/linux/{arch}/{file}.sha256',
    packing: 'binary',
    files: same('kube-apiserver', 'kube-controller-manager', 'kube-proxy', 'kube-scheduler', 'kubectl', 'kubelet'),
  },
  kubeadm: {
    url: 'https://dl.k8s.io/release/v{version}/bin/linux/{arch}/{file}',
    checksumUrl: 'https://dl.k8s.io/release/v{version}/bin/linux/{arch}/{file}.sha256',
    packing: 'binary',
    files: same('kubeadm'),
  },
  etcd: {
    url: github('etcd-io/etcd', 'etcd-v{version}-linux-{arch}.tar.gz'),
    checksumUrl: github('etcd-io/etcd', 'SHA256SUMS'),
    packing: 'tar.gz',
    files: {
      etcd: 'etcd-v{version}-linux-{arch}/etcd',
      etcdctl: 'etcd-v{version}-linux-{arch}/etcdctl',
      etcdutl: 'etcd-v{version}-linux-{arch}/etcdutl',
    },
  },
  cni: {
    url: github('containernetworking/plugins', 'cni-plugins-linux-{arch}-v{version}.tgz'),
    checksumUrl: github('containernetworking/plugins', 'cni-plugins-linux-{arch}-v{version}.tgz.sha256'),
    packing: 'tar.gz',
    files: {
      bridge: './bridge',
      'host-local': './host-local',
      loopback: './loopback',
      portmap: './portmap',
      ptp: './ptp',
    },
  },
};

const probeMs = 1_500;
const checksumMs = 5_000;
const redirectsMax = 5;

export function officialMethod(part: Part, sources = officialSources): BuildMethod | undefined {
  const source = sources[part.name];
  if (source === undefined) return undefined;
  return {
    label: 'official binary',
    inputs: async (builder) => ({
      made: 'official binary',
      url: source.url,
      version: part.version,
      architecture: builder.host.environment.architecture,
      files: JSON.stringify(source.files),
    }),
    isWanted: (builder) => builder.source !== 'build',
    unavailable: async (builder) => (await unreachable(builder, source)) ?? (await unpublished(builder, part, source)),
    make: (builder, work) => fetchPart(builder, { part, source, work }),
  };
}

/** One probe per host and run, so that a build without a network does not wait for many timeouts. */
async function unreachable(builder: ReleaseBuilder, source: OfficialSource): Promise<string | undefined> {
  const { hostname, port, protocol } = new URL(source.url);
  const number = port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port);
  return builder.once(`probe of ${hostname}`, () =>
    builder.host.network.probe(hostname, number, probeMs).then(
      () => undefined,
      (error: unknown) => (error as Error).message,
    ),
  );
}

/** A host that answers may be a proxy that refuses, or not have this version: the checksum must be readable. */
async function unpublished(builder: ReleaseBuilder, part: Part, source: OfficialSource): Promise<string | undefined> {
  const [file = ''] = Object.keys(source.files);
  try {
    await text(builder, AbortSignal.timeout(checksumMs), filled(builder, part, source.checksumUrl, file));
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function filled(builder: ReleaseBuilder, part: Part, template: string, file = ''): string {
  return template
    .replaceAll('{version}', part.version)
    .replaceAll('{arch}', goArchitecture(builder))
    .replaceAll('{file}', file);
}

interface Fetch {
  readonly part: Part;
  readonly source: OfficialSource;
  readonly work: MakeOptions;
}

async function fetchPart(builder: ReleaseBuilder, { part, source, work }: Fetch): Promise<EntryFacts> {
  const { files } = builder.host;
  const bin = join(work.folder, 'bin');
  await files.makeFolder(bin);
  const fill = (template: string, file?: string): string => filled(builder, part, template, file);
  if (source.packing === 'binary') {
    for (const file of Object.keys(source.files)) {
      work.report(`fetching ${fill(source.url, file)}`);
      await fetchChecked(builder, work, {
        url: fill(source.url, file),
        checksumUrl: fill(source.checksumUrl, file),
        path: join(bin, file),
      });
    }
  } else {
    const path = join(work.folder, 'archive');
    work.report(`fetching ${fill(source.url)}`);
    await fetchChecked(builder, work, { url: fill(source.url), checksumUrl: fill(source.checksumUrl), path });
    await unpack(builder, path, {
      bin,
      work,
      wanted: Object.entries(source.files).map(([name, at]) => [name, fill(at)]),
    });
    await files.remove(path);
  }
  const programs = Object.keys(source.files).map((file) => join(bin, file));
  for (const program of programs) await files.setMode(program, 0o755);
  const go = await builder.go();
  const modules = go.status === 'ready' ? await linkedModules(builder.host.processes, go.program, programs) : [];
  return { version: part.version, licence: part.licence, source: fill(source.url), go: 'as published', modules };
}

interface CheckedFetch {
  readonly url: string;
  readonly checksumUrl: string;
  readonly path: string;
}

async function fetchChecked(
  builder: ReleaseBuilder,
  work: MakeOptions,
  { url, checksumUrl, path }: CheckedFetch,
): Promise<void> {
  const expected = checksumFor(await text(builder, work.signal, checksumUrl), url);
  const answer = await openFollowing(builder, work.signal, url);
  const hash = createHash('sha256');
  const hashed = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of answer.body) {
      hash.update(chunk);
      yield chunk;
    }
  };
  await builder.host.files.writeStream(path, hashed());
  const found = hash.digest('hex');
  if (found !== expected) {
    await builder.host.files.remove(path);
    throw releaseErrors.CHECKSUM({ url, expected, found });
  }
}

/** The digest of `url` in a checksum file: the only digest, or the one in the line that ends with its file name. */
export function checksumFor(content: string, url: string): string {
  const name = new URL(url).pathname.split('/').at(-1) ?? '';
  const lines = content.split('\n').map((line) => line.trim().split(/\s+/));
  const named = lines.find(([, file]) => file?.replace(/^[*./]+/, '') === name);
  const [digest = ''] = named ?? (lines.filter(([first]) => first !== '').length === 1 ? (lines[0] ?? []) : []);
  if (!/^[0-9a-f]{64}$/.test(digest))
    throw releaseErrors.CHECKSUM({ url, expected: 'a published SHA-256', found: 'none' });
  return digest;
}

async function text(builder: ReleaseBuilder, signal: AbortSignal, url: string): Promise<string> {
  const answer = await openFollowing(builder, signal, url);
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.body) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

async function openFollowing(builder: ReleaseBuilder, signal: AbortSignal, from: string): Promise<HttpStream> {
  let url = from;
  for (let hop = 0; hop <= redirectsMax; hop += 1) {
    const answer = await builder.host.network.open({ url, signal });
    const { location } = answer.headers;
    if (answer.status === 200) return answer;
    if (answer.status < 300 || answer.status >= 400 || location === undefined) {
      throw releaseErrors.BUILD_FAILED({ part: from, reason: `${url} answered ${answer.status}` });
    }
    const next = new URL(location, url);
    if (next.protocol !== new URL(from).protocol) {
      throw releaseErrors.BUILD_FAILED({ part: from, reason: `${url} redirects to ${next.protocol}` });
    }
    url = next.href;
  }
  throw releaseErrors.BUILD_FAILED({ part: from, reason: `more than ${redirectsMax} redirects` });
}

interface Unpack {
  readonly bin: string;
  readonly work: MakeOptions;
  readonly wanted: readonly (readonly [string, string])[];
}

async function unpack(builder: ReleaseBuilder, archive: string, { bin, work, wanted }: Unpack): Promise<void> {
  const { files } = builder.host;
  const folder = join(work.folder, 'unpacked');
  await files.makeFolder(folder);
  const members = wanted.map(([, member]) => member);
  const command = ['tar', '-xzf', archive, '-C', folder, '--no-same-owner', ...members];
  await runTool(builder.host, archive, command, { signal: work.signal });
  for (const [name, member] of wanted) await files.rename(join(folder, member), join(bin, name));
  await files.remove(folder);
}
