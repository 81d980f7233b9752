// `firstlight release verify`
import { resolve } from 'node:path';
import { z } from 'zod';
import { megabytes } from '../../release/build/recipe-stage.ts';
import { verifyRelease } from '../../release/verify-release.ts';
import type { CommandBody } from '../frame/verb.ts';
import { working } from '../../contract/stage-progress.ts';

const optionsSchema = z.object({ key: z.string().optional() });

export const releaseVerify: CommandBody = async ({ host, options, signal, emit }) => {
  const { key } = optionsSchema.parse(options);
  const verified = await verifyRelease(host, {
    signal,
    report: (progress) => emit({ kind: 'stage-progress', stage: 'verify', progress: working(progress) }),
    ...(key === undefined ? {} : { keyPath: resolve(host.environment.workingFolder, key) }),
  });
  const { signer } = verified;
  const by = signer === undefined ? '' : `, signed by ${signer.fingerprint} on ${signer.at.toISOString()}`;
  return {
    data: { ...verified, digest: `sha256:${verified.digest}` },
    text: `release ${verified.version} sha256:${verified.digest}: ${verified.entries} entries, ${megabytes(verified.sizeBytes)}, all as recorded${by}\n`,
  };
};
