// Picks the docker version and the OS versions that get it. The OS that boots next decides; the running OS gets the
// same version if its package list has it, so that a rollback finds its docker.
import { type ErrorKind, isError } from '../errors/firstlight-error.ts';
import { reasonOf } from './context.ts';
import { torcxErrors } from './errors.ts';
import { compareOsVersions, firstOsWithBucket } from './operating-system.ts';
import type { PackageList, PackageLists } from './package-lists.ts';
import { findVersion, offeredVersions, type PackageVersion } from './package-manifest.ts';

export interface PickInput {
  readonly runningOs: string;
  readonly nextOs: string | undefined;
  /** Best first. */
  readonly preferences: readonly string[];
  readonly lists: PackageLists;
  /** True: a missing list of the running OS is an error. False: that OS is left out. */
  readonly needsRunningOs: boolean;
}

export interface PickedOs {
  readonly osVersion: string;
  readonly version: PackageVersion;
  readonly listUrl: string;
}

export interface Reasons {
  readonly because: readonly string[];
  /** Warnings that do not stop the run. */
  readonly doubts: readonly string[];
}

export type PickedVersion = Reasons &
  (
    | { readonly status: 'picked'; readonly reference: string; readonly targets: readonly PickedOs[] }
    | { readonly status: 'too-old' }
  );

export const addOnName = 'docker';

export async function pickVersion(input: PickInput): Promise<PickedVersion> {
  const { runningOs, nextOs, preferences } = input;
  const primary = nextOs ?? runningOs;
  if (isBeforeBuckets(primary)) {
    const doubt = `OS ${primary} is older than ${firstOsWithBucket}, the first with a bucket: no add-on is installed`;
    return { status: 'too-old', because: [], doubts: [doubt] };
  }
  const list = await input.lists(primary);
  const version = preferences.map((reference) => findIn(list, reference)).find((found) => found !== undefined);
  if (version === undefined) {
    const offered = offeredVersions(list.manifest, addOnName);
    throw torcxErrors.NO_SUITABLE_VERSION({ osVersion: primary, wanted: preferences, offered });
  }
  const { reference } = version;
  const rank = `preference ${preferences.indexOf(reference) + 1} of ${preferences.length} (${preferences.join(', ')})`;
  const first = { osVersion: primary, version, listUrl: list.url };
  const chosen = `OS ${primary} offers ${addOnName} ${reference}, ${rank}`;
  if (primary === runningOs) return { status: 'picked', reference, targets: [first], because: [chosen], doubts: [] };
  const also = await alsoForRunningOs(input, reference);
  return {
    status: 'picked',
    reference,
    targets: [first, ...also.targets],
    because: [chosen, ...also.because],
    doubts: also.doubts,
  };
}

function isBeforeBuckets(osVersion: string): boolean {
  return compareOsVersions(osVersion, firstOsWithBucket) < 0;
}

function findIn(list: PackageList, reference: string): PackageVersion | undefined {
  try {
    return findVersion(list.manifest, addOnName, reference);
  } catch (error) {
    throw torcxErrors.MANIFEST({ url: list.url, reason: reasonOf(error) }, { cause: error });
  }
}

async function alsoForRunningOs(
  { runningOs, lists, needsRunningOs }: PickInput,
  reference: string,
): Promise<Reasons & { readonly targets: readonly PickedOs[] }> {
  const without = (doubt: string) => ({ targets: [], because: [], doubts: [doubt] });
  if (isBeforeBuckets(runningOs)) return without(`the running OS ${runningOs} is older than ${firstOsWithBucket}`);
  try {
    const list = await lists(runningOs);
    const version = findIn(list, reference);
    if (version === undefined) {
      return without(`the running OS ${runningOs} does not offer ${reference}: a rollback would boot without it`);
    }
    const because = [`the running OS ${runningOs} offers ${reference} too, for a rollback`];
    return { targets: [{ osVersion: runningOs, version, listUrl: list.url }], because, doubts: [] };
  } catch (error) {
    const isBucketTrouble = bucketTrouble.some((row) => isError(error, row));
    if (needsRunningOs || !isBucketTrouble) throw error;
    return without(`the running OS ${runningOs} is left out: ${reasonOf(error)}`);
  }
}

const bucketTrouble: readonly ErrorKind[] = [
  torcxErrors.BUCKET,
  torcxErrors.SIGNATURE,
  torcxErrors.REPLAY,
  torcxErrors.MANIFEST,
];
