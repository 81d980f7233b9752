// Where the images of the named release come from: an OCI layout on this machine, or a registry, by the machine's own
// mirrors and credentials. Either way containerd has them afterwards, under the names that the release gives them.
import { join } from 'node:path';
import { parse as parseToml } from 'smol-toml';
import { z } from 'zod';
import { kubeletPullSecret, registryHostsFolder } from '../../contract/machine-paths.ts';
import type { Host } from '../../host/host.ts';
import { jsonIfValid } from '../../host/json-if-valid.ts';
import { writeImageArchive } from '../../release/images/oci-archive.ts';
import { blobFolder } from '../../release/images/oci-image.ts';
import { releasePivotErrors } from '../errors.ts';
import type { ImageStore } from './image-store.ts';

export interface NamedImage {
  /** Its name within the release: `etcd`. */
  readonly name: string;
  /** With `sha256:`. */
  readonly digest: string;
  /** What pods and manifests call it. */
  readonly names: readonly string[];
}

export interface ReleaseSource {
  readonly description: string;
  /** Puts an image into the store under all of its names. */
  readonly bring: (image: NamedImage) => Promise<void>;
}

interface SourceInput {
  readonly host: Host;
  readonly store: ImageStore;
  /** For what is made on the way; nothing in it outlives the pivot. */
  readonly scratch: string;
}

/** A layout is a folder, or the archive that `release extract --component release` writes. */
export function layoutSource({ host, store, scratch }: SourceInput, layout: string): ReleaseSource {
  const archive = join(scratch, 'image.tar');
  return {
    description: `the OCI layout ${layout}`,
    bring: async ({ digest, names }) => {
      const kind = (await host.files.facts(layout))?.kind;
      if (kind === undefined) throw releasePivotErrors.UNAVAILABLE({ what: layout, reason: 'it is not there' });
      if (kind === 'folder') {
        const hex = digest.replace('sha256:', '');
        if ((await host.files.facts(join(layout, blobFolder, hex))) === undefined) {
          throw releasePivotErrors.UNAVAILABLE({ what: digest, reason: `${layout} does not contain it` });
        }
        await writeImageArchive(host.files, layout, { digest: hex, path: archive });
        await store.importArchive(archive);
        await host.files.remove(archive);
      } else await store.importArchive(layout);
      const present = await store.names();
      const known = [...present].find((name) => name.endsWith(`@${digest}`));
      if (known === undefined)
        throw releasePivotErrors.UNAVAILABLE({ what: digest, reason: `${layout} gives it no name` });
      for (const name of names) if (!present.has(name)) await store.name(known, name);
    },
  };
}

/** The images of a release are in repositories beside that of the release image, each under its name in the release. */
export function registrySource({ host, store }: SourceInput, releaseImage: string): ReleaseSource {
  const [repository = ''] = releaseImage.split('@');
  const beside = repository.slice(0, repository.lastIndexOf('/'));
  return {
    description: `the registry ${beside}`,
    bring: async ({ name, digest, names }) => {
      const reference = name === 'release' ? releaseImage : `${beside}/${name}@${digest}`;
      await store.pull(reference, await loginFor(host, reference));
      for (const each of names) if (each !== reference) await store.name(reference, each);
    },
  };
}

const pullSecret = z.object({ auths: z.record(z.string(), z.object({ auth: z.string().optional() })) });
const hostsFile = z.object({ host: z.record(z.string(), z.unknown()).default({}) });

/** `user:password` from the registry credentials of the machine: of the registry, else of the first mirror of it. */
async function loginFor({ files }: Host, image: string): Promise<string | undefined> {
  const secret = jsonIfValid((await files.readIfPresent(kubeletPullSecret)) ?? '');
  const { auths = {} } = pullSecret.safeParse(secret).data ?? {};
  const [registry = ''] = image.split('/');
  const hosts = await files.readIfPresent(join(registryHostsFolder, registry, 'hosts.toml'));
  const { host = {} } = hostsFile.safeParse(parseToml(Buffer.from(hosts ?? '').toString('utf8'))).data ?? {};
  const names = [registry, ...Object.keys(host).map((url) => new URL(url).host)];
  const auth = names.map((name) => auths[name]?.auth).find((value) => value !== undefined);
  return auth === undefined ? undefined : Buffer.from(auth, 'base64').toString('utf8');
}
