// What an asset is: a value that says why it exists, what it is made from, and how. It does not know the folder on the
// disk; the graph, `explain asset`, the golden tests and the docs all read the same values.
// To add one: a file with an `asset({…})`, and a line in targets.ts.
import type { Clock } from '../host/clock.ts';
import type { Random } from '../host/random.ts';
import type { Emit } from '../workflow/events.ts';

export interface AssetFile {
  /** Relative to the asset folder, with forward slashes. */
  readonly path: string;
  readonly content: string | Uint8Array;
  /** 0o600 for anything that holds a key or a token. */
  readonly mode?: number;
}

/** The asset's files as they are on the disk, by path. */
export type FileSet = ReadonlyMap<string, Uint8Array>;

export interface GenerateTools {
  readonly clock: Clock;
  readonly random: Random;
  readonly emit: Emit;
  /** Of the machine that firstlight runs on, by Kubernetes' name. */
  readonly architecture: 'amd64' | 'arm64';
  /** The asset's files as they are before it is made anew; empty the first time. */
  readonly before: FileSet;
}

/** An asset of any kind. The functions of Asset are methods, so that each asset is assignable to this. */
export type AnyAsset = Asset<unknown, InputAssets>;
/** Of an asset that is made from time and random bytes only. */
export type NoInputs = Readonly<Record<string, never>>;
export type InputAssets = Readonly<Record<string, AnyAsset>>;
export type ValueOf<A> = A extends Asset<infer Value, infer _Inputs> ? Value : never;
export type InputValues<Inputs extends InputAssets> = { readonly [K in keyof Inputs]: ValueOf<Inputs[K]> };

export interface Asset<Value, Inputs extends InputAssets> {
  readonly name: string;
  /** Why it exists, in a sentence or two. */
  readonly why: string;
  /** When it may be thrown away, for `explain asset`. */
  readonly neededUntil: string;
  readonly inputs: Inputs;
  /** Paths it writes. A trailing `/*` means every other file directly in that folder. */
  readonly outputs: readonly string[];
  /** The files belong together (a key and its certificate): all of them or none. */
  readonly isWhole?: boolean;
  /** It generates nothing and only gathers what lies in its folder. */
  readonly isCollection?: boolean;
  /** A generated file that a user removed stays removed. */
  readonly mayBeRemoved?: boolean;
  generate(inputs: InputValues<Inputs>, tools: GenerateTools): readonly AssetFile[] | Promise<readonly AssetFile[]>;
  /** Parses the files on the disk, generated or edited. Throws a FirstlightError that names the file. */
  read(files: FileSet, tools: GenerateTools): Value | Promise<Value>;
  /** What does not fit between this value and its inputs (another cluster's certificate, say). */
  mismatch?(value: Value, inputs: InputValues<Inputs>): string | undefined;
  /** Why it has to be made anew although nothing changed (it is about to expire). */
  stale?(value: Value, tools: GenerateTools): string | undefined;
}

/** Declares an asset; only for the types, it adds nothing. */
export function asset<Value, const Inputs extends InputAssets>(
  declaration: Asset<Value, Inputs>,
): Asset<Value, Inputs> {
  return declaration;
}

/** The text of the asset's only file, or of the named one. */
export function textOf(files: FileSet, path?: string): string {
  const content = path === undefined ? [...files.values()][0] : files.get(path);
  return Buffer.from(content ?? new Uint8Array()).toString('utf8');
}
