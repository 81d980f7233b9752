// What can go wrong while a release is built, read or checked.
import { exitCodes } from '../errors/exit-codes.ts';
import { errorTable } from '../errors/firstlight-error.ts';

export const releaseErrors = errorTable('RELEASE', {
  NO_SOURCES: {
    message: (e: { path: string }) => `there is nothing to build a release from: ${e.path} is missing`,
    hint: 'A release is built from a checkout of Firstlight. Copy the cache folder of a machine that has built one instead.',
    means: 'This program was started from its bundle alone; the pinned upstream modules are not beside it.',
    exit: exitCodes.other,
  },
  BAD_TABLE: {
    message: (e: { path: string; reason: string }) => `${e.path} is not a valid table of parts: ${e.reason}`,
    hint: 'Restore the file from the checkout.',
    means: 'The table of upstream parts was edited into something that cannot be built.',
    exit: exitCodes.badConfig,
  },
  UNKNOWN_NAME: {
    message: (e: { what: string; name: string; known: readonly string[] }) =>
      `there is no ${e.what} ${e.name}; known: ${e.known.join(', ')}`,
    hint: 'Use one of the names above.',
    means: 'A name given on the command line is not in this release.',
    exit: exitCodes.usage,
  },
  COMPONENT: {
    message: (e: { component: string; path: string; reason: string }) =>
      `${e.path} cannot be the image of component ${e.component}: ${e.reason}`,
    hint: (e: { component: string }) =>
      `Give an OCI layout with one image, a folder or a tar file (skopeo copy … oci-archive:FILE makes one): firstlight release build --component ${e.component}=FILE`,
    means: 'The image becomes part of the release by its digest, so all of it must be there and be what it says.',
    exit: exitCodes.badConfig,
  },
  GO_MISSING: {
    message: (e: { part: string; needed: string }) => `${e.part} must be compiled and Go is not installed`,
    hint: (e: { needed: string }) =>
      `Install Go ${e.needed} or newer (https://go.dev/dl/) so that \`go\` is on the PATH or in /usr/local/go/bin, then run the same command again.`,
    means: 'A part was neither in the cache nor to be had as an official binary, so it has to be compiled.',
    exit: exitCodes.infrastructure,
  },
  GO_TOO_OLD: {
    message: (e: { found: string; needed: string; setting: string }) =>
      `Go ${e.found} is too old: ${e.needed} is needed, and GOTOOLCHAIN=${e.setting || 'unknown here'} forbids fetching it`,
    hint: (e: { needed: string }) =>
      `Install Go ${e.needed} or newer (https://go.dev/dl/), or allow Go to fetch it itself: go env -w GOTOOLCHAIN=auto (Go 1.21 or newer).`,
    means: 'The pinned modules need a newer Go than the one installed.',
    exit: exitCodes.infrastructure,
  },
  BUILD_FAILED: {
    message: (e: { part: string; reason: string }) => `${e.part} could not be built: ${e.reason}`,
    hint: 'Parts that were finished are kept. Fix the cause and run the same command again.',
    means: 'The compiler or a packaging tool ended with an error; its last lines are in the message.',
    exit: exitCodes.infrastructure,
  },
  CHECKSUM: {
    message: (e: { url: string; expected: string; found: string }) =>
      `${e.url} does not match the pinned checksum: expected ${e.expected}, got ${e.found}`,
    hint: 'Nothing of it was kept. Try again, or build from source: firstlight release build --source build.',
    means: 'A downloaded official binary differs from the SHA-256 that upstream/parts.json names for it.',
    exit: exitCodes.infrastructure,
  },
  PACKAGES_MISSING: {
    message: (e: { packages: readonly string[]; purpose: string }) =>
      `${e.purpose} needs Debian packages that are not installed: ${e.packages.join(', ')}`,
    hint: (e: { packages: readonly string[] }) =>
      `As root: apt-get install --no-install-recommends ${e.packages.join(' ')}, or run this command as root and it does so itself.`,
    means: 'The program installs missing packages itself only as root on a Debian-like host.',
    exit: exitCodes.infrastructure,
  },
  NEEDS_ROOT: {
    message: (e: { what: string }) => `${e.what} can only be made by root`,
    hint: 'Run the same command as root, or build only parts and images: firstlight release build --without-machines',
    means: 'The step mounts, changes owners or starts a container runtime.',
    exit: exitCodes.infrastructure,
  },
  DISK: {
    message: (e: { folder: string; freeBytes: number; neededBytes: number }) =>
      `${e.folder} has ${(e.freeBytes / 1e9).toFixed(1)} GB left and the build needs about ${(e.neededBytes / 1e9).toFixed(0)} GB`,
    hint: 'Free some space, or use another disk by setting FIRSTLIGHT_CACHE (and GOCACHE for the compiler).',
    means: 'Said before anything is built: a compiler that runs out of space fails late and unclearly.',
    exit: exitCodes.infrastructure,
  },
  ENTRY_DAMAGED: {
    message: (e: { entry: string; reason: string }) => `${e.entry} is damaged: ${e.reason}`,
    hint: 'firstlight release build notices it and builds that entry again.',
    means: 'A file in the cache is not what was recorded when it was built.',
    exit: exitCodes.infrastructure,
  },
  NOT_BUILT: {
    message: (e: { folder: string }) => `there is no release in ${e.folder}`,
    hint: 'Build it first: firstlight release build',
    means: 'The command needs a complete release and the cache folder has none.',
    exit: exitCodes.infrastructure,
  },
  NOT_VERIFIED: {
    message: (e: { problems: readonly string[] }) => `the release is not what it says: ${e.problems.join('; ')}`,
    hint: 'firstlight release build repairs the cache. Do not install from a release whose signature is wrong.',
    means: 'A digest or the signature of the release does not match.',
    exit: exitCodes.infrastructure,
  },
  SIGNATURE_MISSING: {
    message: (e: { digest: string }) => `release ${e.digest} carries no signature`,
    hint: 'Sign it with firstlight release build --sign-key FILE, or verify without --key.',
    means: 'A key was given to verify with, so an unsigned release is refused.',
    exit: exitCodes.infrastructure,
  },
  SIGNATURE_WRONG: {
    message: (e: { digest: string; reason: string }) => `the signature of release ${e.digest} is refused: ${e.reason}`,
    hint: 'Check that the key is the one of whoever built the release. Do not install it otherwise.',
    means: 'The OpenPGP signature does not verify over the manifest of the release with the key that was given.',
    exit: exitCodes.infrastructure,
  },
  KEY_UNREADABLE: {
    message: (e: { path: string; reason: string }) => `${e.path} cannot be used as an OpenPGP key: ${e.reason}`,
    hint: 'Give a file with one OpenPGP key, armored or binary (gpg --export or --export-secret-keys). A passphrase is read from FIRSTLIGHT_SIGN_PASSPHRASE.',
    means: 'The file is no OpenPGP key, or the key is locked and the passphrase is missing or wrong.',
    exit: exitCodes.badConfig,
  },
});
