// A containerd folder with every image of the release imported and unpacked. It is made once and every machine begins
// with it, which saves a machine the 2.4 s of an import. A containerd in its own mount namespace fills it and is
// stopped before the folder is used.
import { join } from 'node:path';
import { waitingFor } from '../../contract/missing.ts';
import type { Host } from '../../host/host.ts';
import { digestOfRecord } from '../../workflow/digest.ts';
import { waitUntil } from '../../workflow/wait.ts';
import { type MakeOptions, needEntry, type Recipe, type ReleaseBuilder } from '../build/builder.ts';
import { copyFolder, endOfOutput, runTool } from '../build/run-tool.ts';
import type { CacheEntry, EntryFacts, EntryInputs } from '../cache/cache.ts';
import { releaseErrors } from '../errors.ts';
import { imageOfEntry } from '../images/images.ts';
import { writeImageArchive } from '../images/oci-archive.ts';

/** Blobs and unpacked layers: containerd makes and removes them, and never changes one. */
export const seedLayers: readonly string[] = [
  'io.containerd.content.v1.content/blobs/sha256/*',
  'io.containerd.snapshotter.v1.overlayfs/snapshots/*/fs',
];

/** The identity of one containerd; every machine must make its own. */
const identityFile = 'io.containerd.grpc.v1.introspection/uuid';
const namespace = 'k8s.io';
/** No registry in the world has these images: a kubelet that cleans up must leave them. */
const pinned = 'io.cri-containerd.pinned=pinned';

export interface SeedIngredients {
  /** Name of the cache entry; machines begin with the seed named `containerd`. */
  readonly name: string;
  readonly containerd: Recipe;
  /** A seed to start from, so that only new images are imported. */
  readonly base?: Recipe;
  readonly images: readonly Recipe[];
}

export function containerdSeedRecipe(ingredients: SeedIngredients): Recipe {
  return {
    kind: 'seed',
    name: ingredients.name,
    why: 'Images are on every machine before it starts, without an import on the way to a running cluster.',
    estimateSeconds: 5,
    recordsOwners: true,
    methods: [
      {
        label: 'import of the images',
        inputs: (builder) => seedInputs(builder, ingredients),
        make: async (builder, work) => {
          if (builder.host.environment.uid !== 0) throw releaseErrors.NEEDS_ROOT({ what: 'the prepared image store' });
          const scratch = await builder.host.files.makeTemporaryFolder('firstlight-seed-');
          try {
            if (ingredients.base !== undefined)
              await copyBase(builder, await needEntry(builder, ingredients.base), work);
            return await importAll(builder, { ...ingredients, work, scratch });
          } finally {
            await builder.host.files.remove(scratch);
          }
        },
      },
    ],
  };
}

async function seedInputs(
  builder: ReleaseBuilder,
  { containerd, base, images }: SeedIngredients,
): Promise<EntryInputs> {
  const digests = images.map(
    async (image) => [image.name, imageOfEntry(await needEntry(builder, image)).digest] as const,
  );
  return {
    format: '3',
    images: digestOfRecord(Object.fromEntries(await Promise.all(digests))),
    containerd: (await needEntry(builder, containerd)).manifest.treeDigest,
    // The key, not the content: the databases contain times, so the content of a seed differs each time.
    ...(base === undefined ? {} : { base: (await needEntry(builder, base)).manifest.key }),
  };
}

async function copyBase(builder: ReleaseBuilder, base: CacheEntry, { folder, signal }: MakeOptions): Promise<void> {
  await copyFolder(builder.host, { from: base.content, to: folder, part: 'the image store', signal });
}

interface Import extends SeedIngredients {
  readonly work: MakeOptions;
  readonly scratch: string;
}

async function importAll(builder: ReleaseBuilder, { containerd, images, work, scratch }: Import): Promise<EntryFacts> {
  const { host } = builder;
  const bin = join((await needEntry(builder, containerd)).content, 'bin');
  const socket = join(scratch, 'containerd.sock');
  const daemon = await startContainerd(host, { bin, scratch, socket, work });
  const ctr = (...args: readonly string[]): Promise<string> =>
    runCtr(host, [join(bin, 'ctr'), '--address', socket, '--namespace', namespace, ...args], work.signal);
  try {
    await waitUntil({
      clock: host.clock,
      what: 'the start of containerd',
      deadlineMs: 30_000,
      everyMs: 50,
      signal: work.signal,
      probe: async () =>
        ctr('version').then(
          (value) => ({ status: 'ready', value }) as const,
          () => ({ status: 'waiting', missing: [waitingFor(daemon.lastLine())] }) as const,
        ),
    });
    const archive = join(scratch, 'image.tar');
    for (const image of images) {
      const entry = await needEntry(builder, image);
      await writeImageArchive(host.files, entry.content, { digest: imageOfEntry(entry).digest, path: archive });
      await ctr('images', 'import', '--snapshotter', 'overlayfs', '--label', pinned, archive);
    }
    const found = (await ctr('images', 'list', '--quiet')).trim().split('\n').sort();
    return { namespace, images: found };
  } finally {
    await daemon.stop();
    await host.files.remove(join(work.folder, identityFile));
  }
}

async function runCtr(host: Host, command: readonly string[], signal: AbortSignal): Promise<string> {
  return (await runTool(host, 'the image store', command, { signal, timeoutMs: 300_000 })).stdout;
}

interface Daemon {
  readonly lastLine: () => string;
  readonly stop: () => Promise<void>;
}

interface DaemonOptions {
  readonly bin: string;
  readonly scratch: string;
  readonly socket: string;
  readonly work: MakeOptions;
}

async function startContainerd(host: Host, { bin, scratch, socket, work }: DaemonOptions): Promise<Daemon> {
  const config = join(scratch, 'config.toml');
  await host.files.write(config, containerdConfig(work.folder, join(scratch, 'state'), socket));
  const end = new AbortController();
  let line = 'containerd has said nothing yet';
  // It ends with this process and mounts in its own namespace, so an interrupted build leaves neither behind.
  const args = ['--pdeathsig', 'KILL', 'unshare', '--mount', join(bin, 'containerd'), '--config', config];
  const running = host.processes
    .run('setpriv', args, {
      signal: AbortSignal.any([end.signal, work.signal]),
      keepBytes: 65_536,
      onLine: (said) => {
        line = said;
      },
    })
    .then(
      (result) => {
        line = endOfOutput(result);
      },
      () => undefined,
    );
  return {
    lastLine: () => line,
    stop: async () => {
      end.abort(new Error('the images are imported'));
      await running;
    },
  };
}

/** Only the plugins that an import needs: no CRI, no shims, no other snapshotters. */
function containerdConfig(root: string, state: string, socket: string): string {
  const snapshotters = ['blockfile', 'btrfs', 'devmapper', 'erofs', 'zfs'];
  const plugins = [
    'io.containerd.grpc.v1.cri',
    'io.containerd.cri.v1.images',
    'io.containerd.cri.v1.runtime',
    'io.containerd.nri.v1.nri',
    'io.containerd.internal.v1.opt',
    ...snapshotters.map((name) => `io.containerd.snapshotter.v1.${name}`),
  ];
  return [
    'version = 3',
    `root = ${JSON.stringify(root)}`,
    `state = ${JSON.stringify(state)}`,
    `disabled_plugins = ${JSON.stringify(plugins)}`,
    '[grpc]',
    `  address = ${JSON.stringify(socket)}`,
    '[ttrpc]',
    `  address = ${JSON.stringify(`${socket}.ttrpc`)}`,
    '',
  ].join('\n');
}
