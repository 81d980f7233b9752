// The verbs about what Firstlight installs.
import type { CommandSpec } from '../frame/verb.ts';

export const releaseCommands: readonly CommandSpec[] = [
  {
    path: ['release', 'build'],
    summary: 'Build what is missing of the release: parts, images, machine root.',
    description:
      'Everything is kept by digest in the cache folder ($FIRSTLIGHT_CACHE, else ~/.cache/firstlight), so a second call ' +
      'has nothing to do and an interrupted one continues. The first build compiles Kubernetes: about 12 minutes on two cores.',
    options: [
      { flags: '--part <name>', description: 'build only this part (may be repeated)', isRepeatable: true },
      {
        flags: '--source <where>',
        description: 'take official binaries where they can be reached, or always compile',
        choices: ['any', 'build'],
        defaultValue: 'any',
      },
      { flags: '--without-machines', description: 'parts and images only; needs no root' },
      { flags: '--sign-key <file>', description: 'sign the release with this OpenPGP secret key' },
    ],
    examples: [
      'firstlight release build',
      'firstlight release build --part etcd --part pause',
      'firstlight release build --source build --sign-key release.key',
    ],
    load: async () => (await import('./build.ts')).releaseBuild,
  },
  {
    path: ['release', 'info'],
    summary: 'Say what is in the release: version, digest, components, image variables.',
    examples: ['firstlight release info', 'firstlight release info -o json'],
    load: async () => (await import('./info.ts')).releaseInfoCommand,
  },
  {
    path: ['release', 'verify'],
    summary: 'Check every digest of the release, and its signature when a key is given.',
    description:
      'Reads every file of the release. What is damaged is named and marked, and the next release build makes it again.',
    options: [{ flags: '--key <file>', description: 'OpenPGP public key that must have signed the release' }],
    examples: ['firstlight release verify', 'firstlight release verify --key release.pub'],
    load: async () => (await import('./verify.ts')).releaseVerify,
  },
  {
    path: ['release', 'extract'],
    summary: 'Take one component out of the release.',
    description:
      'A part (etcd) is written as its programs, an image (etcd-image) or the whole release (release) as an OCI archive ' +
      'that ctr, podman and skopeo read, the bill of materials (sbom) as CycloneDX JSON.',
    options: [
      { flags: '--component <name>', description: 'part, image with -image, release or sbom' },
      { flags: '--to <folder>', description: 'where to write', defaultValue: '.' },
    ],
    examples: [
      'firstlight release extract --component kubernetes --to bin',
      'firstlight release extract --component etcd-image',
      'firstlight release extract --component sbom',
    ],
    load: async () => (await import('./extract.ts')).releaseExtract,
  },
];
