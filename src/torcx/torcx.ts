// The six things this program asks of torcx, whoever does them: our own code on torcx's files, or its binary.
export interface TorcxImage {
  readonly name: string;
  readonly reference: string;
  /** Where the archive is, as this process sees it. */
  readonly filepath: string;
}

export interface TorcxProfiles {
  /** The profile of the next boot; undefined where none is set or the one set does not exist. */
  readonly next: string | undefined;
  readonly names: readonly string[];
}

export interface Torcx {
  /** Throws TORCX_TORCX when it cannot be used at all. */
  probe(): Promise<void>;
  /** Archives of `name` that a boot of that OS version would find, the one it would take first. */
  listImages(osVersion: string, name: string): Promise<readonly TorcxImage[]>;
  listProfiles(): Promise<TorcxProfiles>;
  /** An empty profile; fails where the name exists in any profile folder. */
  newProfile(name: string): Promise<void>;
  /** Sets or replaces the image in a profile of the user; the archive need not exist. */
  useImage(profile: string, image: { readonly name: string; readonly reference: string }): Promise<void>;
  setNext(profile: string): Promise<void>;
}
