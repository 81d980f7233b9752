// A bootstrap machine in memory for the tests of the pivot: a disk, a containerd that keeps images as real archives and
// registries give them, and two releases. Every call of a program is a change of the disk, so a crash can be at each.
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { unpackTar } from 'modern-tar';
import {
  bootkubeEnvironmentFile,
  firstlightFolder,
  programFolder,
  releaseFile,
  releaseImageFile,
} from '../../contract/machine-paths.ts';
import { type FakeDisk, fakeDisk, fakeFiles } from '../../host/fake/fake-files.ts';
import { type FakeHost, fakeHost } from '../../host/fake/fake-host.ts';
import type { Files } from '../../host/files.ts';
import { blobFolder, type OciImage, writeImage, writeIndex } from '../../release/images/oci-image.ts';
import type { LayerContent } from '../../release/images/oci-layer.ts';
import type { ReleaseManifest } from '../../release/release-manifest.ts';
import { manifestPath } from '../../release/release-recipe.ts';

export const layoutFolder = '/srv/release';
const callsFile = '/calls';
const prefix = 'release.firstlight.internal';

export interface PivotMachine {
  readonly disk: FakeDisk;
  /** Name → the files of the image. */
  readonly images: Map<string, Map<string, string>>;
  /** What a registry would give: reference → the files of the image, and who may have it. */
  readonly registry: Map<string, Map<string, string>>;
  login?: string;
  readonly calls: string[];
  readonly host: (variables?: Readonly<Record<string, string>>) => FakeHost;
}

const contents = (version: string) => ({
  kubernetes: { [`${programFolder.slice(1)}/kube`]: `kube ${version}` },
  node: { [`${firstlightFolder.slice(1)}/bin/node`]: `node ${version}` },
  firstlight: {
    [`${firstlightFolder.slice(1)}/dist/chunks/a-${version}.mjs`]: `chunk ${version}`,
    [`${firstlightFolder.slice(1)}/dist/firstlight.mjs`]: `firstlight ${version}`,
  },
});
const partPaths = {
  kubernetes: ['bin', programFolder],
  node: ['bin', `${firstlightFolder}/bin`],
  firstlight: ['lib', `${firstlightFolder}/dist`],
} as const;
type PartName = keyof typeof partPaths;

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

export interface FakeRelease {
  readonly reference: string;
  readonly manifest: ReleaseManifest;
  /** Path on the machine → content. */
  readonly programs: Readonly<Record<string, string>>;
}

/** Writes a release as a layout into `folder`. */
export async function writeFakeRelease(files: Files, folder: string, version: string): Promise<FakeRelease> {
  const images: OciImage[] = [];
  const programs: Record<string, string> = {};
  const parts: ReleaseManifest['parts'] = [];
  const config = { architecture: 'amd64', entrypoint: [] };
  for (const [name, content] of Object.entries(contents(version)) as [PartName, Record<string, string>][]) {
    const layer: LayerContent = Object.fromEntries(
      Object.entries(content).map(([path, text]) => [path, { kind: 'text', text }]),
    );
    images.push(
      await writeImage(files, folder, { name: `${prefix}/${name}`, tag: `v${version}`, config, layers: [layer] }),
    );
    const [from, to] = partPaths[name];
    const listed = Object.entries(content).map(([path, text]) => {
      programs[`/${path}`] = text;
      return { path: `/${path}`.replace(to, from), sha256: sha256(text), sizeBytes: text.length };
    });
    const digest = sha256(JSON.stringify(listed));
    parts.push({ name, version, licence: '', source: '', made: '', digest, sizeBytes: 0, inputs: {}, files: listed });
  }
  const described = images.map(({ name, tag, digest, sizeBytes }) => ({
    name: name.slice(prefix.length + 1),
    reference: `${name}@sha256:${digest}`,
    tag: `${name}:${tag}`,
    digest,
    sizeBytes,
  }));
  const manifest: ReleaseManifest = {
    format: 1,
    version,
    architecture: 'amd64',
    parts,
    images: described,
    imageVariables: {},
  };
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  const layers: LayerContent[] = [{ [manifestPath]: { kind: 'text', text } }];
  const release = await writeImage(files, folder, { name: `${prefix}/release`, tag: `v${version}`, config, layers });
  await writeIndex(files, folder, [release, ...images]);
  return { reference: `${release.name}@sha256:${release.digest}`, manifest, programs };
}

/** A machine that runs `booted` and whose config names `environment`. */
export async function pivotMachine(booted: FakeRelease, environment: string): Promise<PivotMachine> {
  const disk = fakeDisk();
  const files = fakeFiles(disk);
  const written: Readonly<Record<string, string>> = {
    ...booted.programs,
    [releaseFile]: JSON.stringify(booted.manifest),
    [releaseImageFile]: JSON.stringify({ reference: booted.reference }),
    [bootkubeEnvironmentFile]: environment,
    [callsFile]: '',
  };
  for (const [path, text] of Object.entries(written)) {
    await files.makeFolder(dirname(path));
    await files.write(path, text);
  }
  const machine: PivotMachine = {
    disk,
    images: new Map(),
    registry: new Map(),
    calls: [],
    host: (variables = {}) =>
      fakeHost({
        disk,
        environment: { architecture: 'x64', variables },
        processes: {
          run: async (name, args) => {
            machine.calls.push(
              `${name.split('/').at(-1)} ${args.join(' ')}`.replace(/--address \S+ --namespace \S+ /, ''),
            );
            await files.write(callsFile, String(machine.calls.length));
            const ended = { code: 0, stdout: '', stderr: '', signal: undefined, timedOut: false };
            if (name !== 'ctr') return ended;
            const said = await containerd(machine, files, args.slice(4));
            return typeof said === 'string' ? { ...ended, stdout: said } : { ...ended, code: 1, stderr: said.error };
          },
        },
      }),
  };
  return machine;
}

type Said = string | { readonly error: string };

async function containerd(
  machine: PivotMachine,
  files: Files,
  [noun, verb, ...rest]: readonly string[],
): Promise<Said> {
  const { images } = machine;
  const last = rest.at(-1) ?? '';
  if (noun === 'content')
    return files.readText(join(layoutFolder, blobFolder, (verb === 'get' ? last : '').replace('sha256:', '')));
  if (verb === 'list') return [...images.keys()].join('\n');
  if (verb === 'import') for (const [name, found] of await imagesIn(await files.read(last))) images.set(name, found);
  if (verb === 'pull') {
    const found = machine.registry.get(last);
    if (machine.login !== undefined && !rest.includes(machine.login)) return { error: 'ctr: 401 Unauthorized' };
    if (found === undefined) return { error: `ctr: ${last}: not found` };
    images.set(last, found);
  }
  if (verb === 'tag') images.set(last, images.get(rest.at(-2) ?? '') ?? new Map());
  if (verb === 'mount') {
    const found = images.get(rest.at(-2) ?? '');
    if (found === undefined) return { error: `ctr: ${rest.at(-2)}: not found` };
    for (const [path, text] of found) {
      await files.makeFolder(dirname(join(last, path)));
      await files.write(join(last, path), text, { mode: 0o755 });
    }
  }
  if (verb === 'unmount') await files.remove(last);
  return '';
}

/** The images of an OCI archive by all of their names. Only what its index names counts, as with containerd. */
async function imagesIn(archive: Uint8Array): Promise<Map<string, Map<string, string>>> {
  const entries = new Map((await unpackTar(archive)).map(({ header, data }) => [header.name, Buffer.from(data ?? '')]));
  const json = (path: string): unknown => JSON.parse(entries.get(path)?.toString('utf8') ?? '{}');
  const blob = (digest: string): string => `${blobFolder}/${digest.replace('sha256:', '')}`;
  const index = json('index.json') as { manifests: readonly { digest: string; annotations: Record<string, string> }[] };
  const found = new Map<string, Map<string, string>>();
  for (const { digest, annotations } of index.manifests) {
    const { layers } = json(blob(digest)) as { layers: readonly { digest: string }[] };
    const files = new Map<string, string>();
    for (const layer of layers) {
      for (const { header, data } of await unpackTar(entries.get(blob(layer.digest)) ?? Buffer.alloc(0))) {
        if (header.type === 'file') files.set(`/${header.name}`, Buffer.from(data ?? '').toString('utf8'));
      }
    }
    found.set(annotations['io.containerd.image.name'] ?? '', files);
  }
  return found;
}

/** What a registry has of a release whose layout is in `folder`. */
export async function registryOf(files: Files, folder: string): Promise<ReadonlyMap<string, Map<string, string>>> {
  const { writeArchive } = await import('../../release/images/oci-archive.ts');
  await writeArchive(files, folder, '/whole.tar');
  const found = await imagesIn(await files.read('/whole.tar'));
  await files.remove('/whole.tar');
  return found;
}
