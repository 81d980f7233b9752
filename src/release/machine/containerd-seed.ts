// A containerd folder with every image of the release imported and unpacked, made once and cloned per machine: an
// import would cost each machine 2.4 s. A containerd of our own fills it, in namespaces of its own, and is stopped
// before the folder is used. Clones must copy the two databases and may hard-link all else.
import { join } from 'node:path';
import type { Host } from '../../host/host.ts';
import { waitUntil } from '../../workflow/wait.ts';
import { tailOf } from '../build/build-output.ts';
import { releaseErrors } from '../errors.ts';
import { imageOfEntry } from '../images/images.ts';
import { writeImageArchive } from '../images/oci-archive.ts';
import { digestOfRecord } from '../../workflow/digest.ts';
import type { CacheEntry, EntryFacts, Inputs } from '../cache/cache.ts';
import { need, type Recipe, type Work, type Workshop } from '../build/workshop.ts';
import { waitingFor } from '../../contract/missing.ts';

/** Relative to the seed; a clone needs real copies of these, because containerd writes into them. */
export const seedDatabases: readonly string[] = [
  'io.containerd.metadata.v1.bolt/meta.db',
  'io.containerd.snapshotter.v1.overlayfs/metadata.db',
];

/** The identity of one containerd; every machine makes its own. */
const identityFile = 'io.containerd.grpc.v1.introspection/uuid';
const namespace = 'k8s.io';

export interface SeedIngredients {
  /** Of the entry: the seed that machines clone is `containerd`. */
  readonly name: string;
  readonly containerd: Recipe;
  /** A seed to start from, so that only what is new has to be imported. */
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
    ways: [
      {
        label: 'import of the images',
        inputs: (shop) => seedInputs(shop, ingredients),
        make: async (shop, work) => {
          if (shop.host.environment.uid !== 0) throw releaseErrors.NEEDS_ROOT({ what: 'the prepared image store' });
          const scratch = await shop.host.files.makeTemporaryFolder('firstlight-seed-');
          try {
            if (ingredients.base !== undefined) await copyBase(shop, await need(shop, ingredients.base), work);
            return await importAll(shop, { ...ingredients, work, scratch });
          } finally {
            await shop.host.files.remove(scratch);
          }
        },
      },
    ],
  };
}

async function seedInputs(shop: Workshop, { containerd, base, images }: SeedIngredients): Promise<Inputs> {
  const digests = images.map(async (image) => [image.name, imageOfEntry(await need(shop, image)).digest] as const);
  return {
    format: '2',
    images: digestOfRecord(Object.fromEntries(await Promise.all(digests))),
    containerd: (await need(shop, containerd)).manifest.treeDigest,
    // By its key: databases carry times, so the content of a seed is never the same twice.
    ...(base === undefined ? {} : { base: (await need(shop, base)).manifest.key }),
  };
}

async function copyBase(shop: Workshop, base: CacheEntry, { folder, signal }: Work): Promise<void> {
  const args = ['--archive', '--reflink=auto', '--no-target-directory', base.content, folder];
  const copied = await shop.host.processes.run('cp', args, { signal, timeoutMs: 300_000 });
  if (copied.code !== 0) throw releaseErrors.BUILD_FAILED({ part: 'the image store', reason: tailOf(copied) });
}

interface Import extends SeedIngredients {
  readonly work: Work;
  readonly scratch: string;
}

async function importAll(shop: Workshop, { containerd, images, work, scratch }: Import): Promise<EntryFacts> {
  const { host } = shop;
  const bin = join((await need(shop, containerd)).content, 'bin');
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
      const entry = await need(shop, image);
      await writeImageArchive(host.files, entry.content, { digest: imageOfEntry(entry).digest, path: archive });
      await ctr('images', 'import', '--snapshotter', 'overlayfs', archive);
    }
    const found = (await ctr('images', 'list', '--quiet')).trim().split('\n').sort();
    return { namespace, images: found };
  } finally {
    await daemon.stop();
    await host.files.remove(join(work.folder, identityFile));
  }
}

async function runCtr(host: Host, command: readonly string[], signal: AbortSignal): Promise<string> {
  const [program = '', ...args] = command;
  const result = await host.processes.run(program, args, { signal, timeoutMs: 300_000 });
  if (result.code !== 0) throw releaseErrors.BUILD_FAILED({ part: 'the image store', reason: tailOf(result) });
  return result.stdout;
}

interface Daemon {
  readonly lastLine: () => string;
  readonly stop: () => Promise<void>;
}

interface DaemonOptions {
  readonly bin: string;
  readonly scratch: string;
  readonly socket: string;
  readonly work: Work;
}

async function startContainerd(host: Host, { bin, scratch, socket, work }: DaemonOptions): Promise<Daemon> {
  const config = join(scratch, 'config.toml');
  await host.files.write(config, containerdConfig(work.folder, join(scratch, 'state'), socket));
  const end = new AbortController();
  let line = 'containerd has said nothing yet';
  // Dies with us, and mounts where nobody else sees it: an interrupted build leaves neither behind.
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
        line = tailOf(result);
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

/** Only what an import needs: no CRI, no shims, no other snapshotters. */
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
