// The six operations of torcx that a run uses. torcx-built-in.ts and torcx-program.ts implement them.
export interface TorcxImage {
  readonly name: string;
  readonly reference: string;
  /** Path of the archive for this process (under --root). */
  readonly filepath: string;
}

export interface TorcxProfiles {
  /** The profile of the next boot; undefined if none is set or it does not exist. */
  readonly next: string | undefined;
  readonly names: readonly string[];
}

export interface Torcx {
  /** Throws TORCX_TORCX if torcx cannot be used at all. */
  probe(): Promise<void>;
  /** Archives of `name` that a boot of that OS version finds; it uses the first. */
  listImages(osVersion: string, name: string): Promise<readonly TorcxImage[]>;
  listProfiles(): Promise<TorcxProfiles>;
  /** Makes an empty profile; throws if the name exists in any profile folder. */
  newProfile(name: string): Promise<void>;
  /** Sets or replaces the image in a profile of the user; the archive need not exist. */
  useImage(profile: string, image: { readonly name: string; readonly reference: string }): Promise<void>;
  setNext(profile: string): Promise<void>;
}
