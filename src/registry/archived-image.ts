// An image of an archive as the registry takes it: manifests as texts, blobs as files whose digests were checked.
import type { Files } from '../host/files.ts';

export interface ArchivedBlob {
  /** `sha256:…` */
  readonly digest: string;
  readonly size: number;
  readonly path: string;
}

export interface ArchivedManifest {
  readonly digest: string;
  readonly mediaType: string;
  readonly text: string;
}

export interface ArchivedImage {
  /** As the archive calls it; empty where it has no whole name. */
  readonly names: readonly string[];
  /** What the name stands for: a manifest, or an index of several. */
  readonly root: ArchivedManifest;
  /** Of an index: one for each platform that is in the archive. */
  readonly manifests: readonly ArchivedManifest[];
  readonly blobs: readonly ArchivedBlob[];
}

/** The files of an archive by their names in it. */
export interface ArchiveFiles {
  readonly files: Files;
  readonly pathOf: (name: string) => Promise<string | undefined>;
}

/** The caller names the archive and makes an error of it. */
export class UnusableArchive extends Error {}
