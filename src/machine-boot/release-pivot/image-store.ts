// The images in this machine's containerd, asked and filled by its own client `ctr`. containerd keeps a blob only under
// the digest that it has, so whatever is found under a digest is what the digest says.
import { containerdSocket, registryHostsFolder } from '../../contract/machine-paths.ts';
import type { Host } from '../../host/host.ts';
import { releasePivotErrors } from '../errors.ts';

const namespace = 'k8s.io';
const quickMs = 60_000;
const transferMs = 600_000;

export interface ImageStore {
  /** All names, by tag and by digest. */
  readonly names: () => Promise<ReadonlySet<string>>;
  readonly importArchive: (path: string) => Promise<void>;
  /** `login` is `user:password`. */
  readonly pull: (image: string, login: string | undefined) => Promise<void>;
  /** Gives an image one more name; the name may be another image's. */
  readonly name: (image: string, name: string) => Promise<void>;
  /** Calls `look` with the folder in which the files of the image are, while they are there. */
  readonly withFiles: <T>(image: string, look: (root: string) => Promise<T>) => Promise<T>;
  readonly blob: (digest: string) => Promise<Uint8Array>;
}

export interface ImageStoreOptions {
  /** Where images are mounted while their files are looked at. */
  readonly mountFolder: string;
  readonly signal: AbortSignal;
}

export function openImageStore(host: Host, { mountFolder, signal }: ImageStoreOptions): ImageStore {
  const ctr = async (what: string, args: readonly string[], timeoutMs = quickMs): Promise<string> => {
    const all = ['--address', containerdSocket, '--namespace', namespace, ...args];
    const { code, stdout, stderr, timedOut } = await host.processes.run('ctr', all, { timeoutMs, signal });
    if (code === 0) return stdout;
    const said = timedOut ? `no answer within ${timeoutMs / 1000} s` : (stderr.trim().split('\n').at(-1) ?? '');
    throw releasePivotErrors.UNAVAILABLE({ what, reason: said || `ctr ended with ${code}` });
  };
  const unmount = (): Promise<unknown> =>
    host.processes.run(
      'ctr',
      ['--address', containerdSocket, '--namespace', namespace, 'images', 'unmount', '--rm', mountFolder],
      {
        timeoutMs: quickMs,
      },
    );
  return {
    names: async () => new Set((await ctr('the list of images', ['images', 'list', '--quiet'])).split('\n')),
    importArchive: async (path) => void (await ctr(path, ['images', 'import', path], transferMs)),
    pull: async (image, login) => {
      const user = login === undefined ? [] : ['--user', login];
      await ctr(image, ['images', 'pull', '--hosts-dir', registryHostsFolder, ...user, image], transferMs);
    },
    name: async (image, name) => void (await ctr(image, ['images', 'tag', '--force', image, name])),
    withFiles: async (image, look) => {
      // Of a run that was cut off.
      await unmount();
      await host.files.makeFolder(mountFolder);
      try {
        await ctr(image, ['images', 'mount', image, mountFolder]);
        return await look(mountFolder);
      } finally {
        await unmount();
      }
    },
    blob: async (digest) => Buffer.from(await ctr(digest, ['content', 'get', digest])),
  };
}
