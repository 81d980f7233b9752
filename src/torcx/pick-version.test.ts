import { describe, expect, test } from 'vitest';
import { torcxErrors } from './errors.ts';
import type { PackageLists } from './package-lists.ts';
import type { PackageManifest } from './package-manifest.ts';
import { pickVersion } from './pick-version.ts';

const hash = `sha512-${'0'.repeat(128)}`;

function manifest(versions: readonly string[]): PackageManifest {
  const offered = versions.map((version) => ({ version, hash, locations: [{ url: 'https://bucket.test/x' }] }));
  return { kind: 'torcx-package-list-v0', value: { packages: [{ name: 'docker', versions: offered }] } };
}

/** Lists by OS version; an OS that is not here has no list. */
function lists(byOs: Readonly<Record<string, readonly string[]>>): PackageLists {
  return async (osVersion) => {
    const url = `https://bucket.test/${osVersion}`;
    const versions = byOs[osVersion];
    if (versions === undefined) throw torcxErrors.BUCKET({ url, reason: 'HTTP 404', status: 404 });
    return { osVersion, url, manifest: manifest(versions) };
  };
}

describe('the version that is picked', () => {
  test.each([
    [
      'both OS versions offer it',
      '9999.0.0',
      '9998.0.0',
      ['1.13'],
      { '9999.0.0': ['1.13'], '9998.0.0': ['1.13'] },
      '1.13',
      ['9999.0.0', '9998.0.0'],
    ],
    ['no update waits', undefined, '9998.0.0', ['1.13'], { '9998.0.0': ['1.13'] }, '1.13', ['9998.0.0']],
    [
      'the best of several',
      undefined,
      '9998.0.0',
      ['17.03', '1.13', '1.12'],
      { '9998.0.0': ['1.12', '1.13'] },
      '1.13',
      ['9998.0.0'],
    ],
    [
      'the next OS wins',
      '9999.0.0',
      '9998.0.0',
      ['1.13'],
      { '9999.0.0': ['1.13'], '9998.0.0': ['1.12'] },
      '1.13',
      ['9999.0.0'],
    ],
    [
      'next and running OS are the same',
      '9998.0.0',
      '9998.0.0',
      ['1.13'],
      { '9998.0.0': ['1.13'] },
      '1.13',
      ['9998.0.0'],
    ],
    ['the running OS has no list', '9999.0.0', '9998.0.0', ['1.13'], { '9999.0.0': ['1.13'] }, '1.13', ['9999.0.0']],
    [
      'the running OS is older than the bucket',
      '9999.0.0',
      '1500.0.0',
      ['1.13'],
      { '9999.0.0': ['1.13'] },
      '1.13',
      ['9999.0.0'],
    ],
    [
      'exactly the first OS with a bucket',
      undefined,
      '1520.3.0',
      ['1.13'],
      { '1520.3.0': ['1.13'] },
      '1.13',
      ['1520.3.0'],
    ],
  ])('%s', async (_case, nextOs, runningOs, preferences, byOs, reference, osVersions) => {
    const pick = await pickVersion({ nextOs, runningOs, preferences, lists: lists(byOs), needsRunningOs: false });
    expect(pick).toMatchObject({ status: 'picked', reference });
    expect(pick.status === 'picked' && pick.targets.map((target) => target.osVersion)).toEqual(osVersions);
  });

  test.each([
    ['both too old', '1501.0.0', '1500.0.0'],
    ['the next one too old, the running one not', '1501.0.0', '1576.4.0'],
    ['a pre-release of the first with a bucket', undefined, '1520.3.0-beta'],
  ])('%s: nothing is fetched, nothing picked, no error', async (_case, nextOs, runningOs) => {
    const never: PackageLists = () => Promise.reject(new Error('must not be asked'));
    const pick = await pickVersion({ nextOs, runningOs, preferences: ['1.13'], lists: never, needsRunningOs: true });
    expect(pick).toMatchObject({ status: 'too-old', because: [] });
  });

  test.each([
    ['no preference', []],
    ['none of the preferences on offer', ['1.9']],
  ])('%s is an error that names what was wanted and offered', async (_case, preferences) => {
    const input = { nextOs: undefined, runningOs: '9998.0.0', preferences, needsRunningOs: false };
    await expect(pickVersion({ ...input, lists: lists({ '9998.0.0': ['1.13'] }) })).rejects.toMatchObject({
      code: 'TORCX_NO_SUITABLE_VERSION',
      details: { offered: ['1.13'] },
    });
  });

  test('where the running OS counts too, its missing list is an error', async () => {
    const input = { nextOs: '9999.0.0', runningOs: '9998.0.0', preferences: ['1.13'], needsRunningOs: true };
    await expect(pickVersion({ ...input, lists: lists({ '9999.0.0': ['1.13'] }) })).rejects.toMatchObject({
      code: 'TORCX_BUCKET',
    });
  });
});
