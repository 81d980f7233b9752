import { expect, test } from 'vitest';
import { debianArchives } from './debian.ts';

const mirror = 'https://mirror.test/debian';
const security = 'https://mirror.test/debian-security';

test('without a mirror the archives are the ones that mmdebstrap knows', () => {
  expect(debianArchives('bookworm', {})).toEqual([]);
});

test.each([
  ['a mirror of the packages', { FIRSTLIGHT_DEBIAN_MIRROR: mirror }, 'http://security.debian.org/debian-security'],
  [
    'mirrors of both',
    { FIRSTLIGHT_DEBIAN_MIRROR: mirror, FIRSTLIGHT_DEBIAN_SECURITY_MIRROR: security },
    'https://mirror.test/debian-security',
  ],
])('with %s security updates are installed too', (_, variables, archive) => {
  expect(debianArchives('bookworm', variables)).toEqual([
    `deb ${mirror} bookworm main`,
    `deb ${mirror} bookworm-updates main`,
    `deb ${archive} bookworm-security main`,
  ]);
});

test('a mirror of the security updates alone leaves the packages where they are', () => {
  expect(debianArchives('trixie', { FIRSTLIGHT_DEBIAN_SECURITY_MIRROR: security })).toContain(
    `deb ${security} trixie-security main`,
  );
});
