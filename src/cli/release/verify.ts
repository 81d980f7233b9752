// `firstlight release verify`
import { working } from '../../contract/stage-progress.ts';
import { option, text } from '../frame/option.ts';
import { typedPath } from '../frame/paths.ts';
import { defineVerb } from '../frame/verb.ts';

export const releaseVerifyVerb = defineVerb({
  description:
    'Reads every file of the release. What is damaged is named and marked, and the next release build makes it again.',
  options: { key: option('--key <file>', 'OpenPGP public key that must have signed the release', text) },
  examples: ['firstlight release verify', 'firstlight release verify --key release.pub'],
  run: async ({ host, options, signal, emit }) => {
    const { megabytes } = await import('../../release/build/recipe-stage.ts');
    const { verifyRelease } = await import('../../release/verify-release.ts');
    const verified = await verifyRelease(host, {
      signal,
      report: (progress) => emit({ kind: 'stage-progress', stage: 'verify', progress: working(progress) }),
      ...(options.key === undefined ? {} : { keyPath: typedPath(host, options.key) }),
    });
    const { signer } = verified;
    const by = signer === undefined ? '' : `, signed by ${signer.fingerprint} on ${signer.at.toISOString()}`;
    return {
      data: { ...verified, digest: `sha256:${verified.digest}` },
      text: `release ${verified.version} sha256:${verified.digest}: ${verified.entries} entries, ${megabytes(verified.sizeBytes)}, all as recorded${by}\n`,
    };
  },
});
