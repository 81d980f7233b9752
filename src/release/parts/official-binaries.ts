// Binaries that upstream projects publish, by URL templates. A download must match the SHA-256 that stands in the table
// of parts: a checksum from the host of the binary would prove nothing about that host. A part without a digest for
// every file is compiled instead, from modules pinned by go.sum. One short probe per host and run decides whether the
// host can be reached.
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
    packing: 'binary',
    files: same('kube-apiserver', 'kube-controller-manager', 'kube-proxy', 'kube-scheduler', 'kubectl', 'kubelet'),
  },
  kubeadm: {
    url: 'https://dl.k8s.io/release/v{version}/bin/linux/{arch}/{file}',
    packing: 'binary',
    files: same('kubeadm'),
  },
  etcd: {
    url: github('etcd-io/etcd', 'etcd-v{version}-linux-{arch}.tar.gz'),
    packing: 'tar.gz',
    files: {
      etcd: 'etcd-v{version}-linux-{arch}/etcd',
      etcdctl: 'etcd-v{version}-linux-{arch}/etcdctl',
      etcdutl: 'etcd-v{version}-linux-{arch}/etcdutl',
    },
  },
  cni: {
    url: github('containernetworking/plugins', 'cni-plugins-linux-{arch}-v{version}.tgz'),
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
const answerMs = 5_000;
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
      published: JSON.stringify(downloads(builder, part, source)),
    }),
    isWanted: (builder) =>
      builder.source !== 'build' && downloads(builder, part, source).every(({ sha256 }) => sha256 !== undefined),
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

/** A host that answers may be a proxy that refuses, or not have this version: the first file must be there. */
async function unpublished(builder: ReleaseBuilder, part: Part, source: OfficialSource): Promise<string | undefined> {
  const [first] = downloads(builder, part, source);
  try {
    const answer = await openFollowing(builder, AbortSignal.timeout(answerMs), first?.url ?? '');
    // Leaving the loop closes the connection.
    for await (const _chunk of answer.body) break;
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

interface Download {
  readonly url: string;
  /** The name of the program; undefined for an archive with all of them. */
  readonly file?: string;
  /** Undefined: nobody has pinned it. */
  readonly sha256: string | undefined;
}

/** What is fetched for a part on this architecture: its archive, or each of its programs. */
function downloads(builder: ReleaseBuilder, part: Part, source: OfficialSource): readonly Download[] {
  const pinned = part.published?.[goArchitecture(builder)] ?? {};
  const download = (url: string): Download => ({ url, sha256: pinned[url.split('/').at(-1) ?? ''] });
  if (source.packing === 'tar.gz') return [download(filled(builder, part, source.url))];
  return Object.keys(source.files).map((file) => ({ ...download(filled(builder, part, source.url, file)), file }));
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
  for (const download of downloads(builder, part, source)) {
    work.report(`fetching ${download.url}`);
    const path = download.file === undefined ? join(work.folder, 'archive') : join(bin, download.file);
    await fetchChecked(builder, work, { ...download, path });
    if (download.file !== undefined) continue;
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

interface CheckedFetch extends Download {
  readonly path: string;
}

async function fetchChecked(
  builder: ReleaseBuilder,
  work: MakeOptions,
  { url, sha256: expected, path }: CheckedFetch,
): Promise<void> {
  if (expected === undefined) throw releaseErrors.CHECKSUM({ url, expected: 'a pinned SHA-256', found: 'none' });
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
