// The images and the etcd version for the control plane of this machine, from the release that it was made from.

import { z } from 'zod';
import type { Host } from '../host/host.ts';
import { jsonIfValid } from '../host/json-if-valid.ts';
import { releaseFactsErrors } from './errors.ts';
import { releaseFile } from './machine-paths.ts';

const manifest = z.object({
  parts: z.array(z.object({ name: z.string(), version: z.string() })),
  imageVariables: z.record(z.string(), z.object({ reference: z.string().min(1) })),
});

export interface ReleaseFacts {
  readonly etcdImage: string;
  readonly kubernetesImage: string;
  readonly etcdVersion: string;
}

export async function readReleaseFacts(host: Pick<Host, 'files'>): Promise<ReleaseFacts> {
  const fail = (reason: string): Error => releaseFactsErrors.RELEASE({ path: releaseFile, reason });
  const content = await host.files.readIfPresent(releaseFile);
  if (content === undefined) throw fail('it is not there');
  const read = manifest.safeParse(jsonIfValid(content));
  if (!read.success) throw fail(z.prettifyError(read.error));
  const { parts, imageVariables } = read.data;
  const etcdVersion = parts.find(({ name }) => name === 'etcd')?.version;
  const etcdImage = imageVariables['ETCD_IMAGE']?.reference;
  const kubernetesImage = imageVariables['HYPERKUBE_IMAGE']?.reference;
  if (etcdVersion === undefined || etcdImage === undefined || kubernetesImage === undefined) {
    throw fail('it names no etcd or no Kubernetes');
  }
  return { etcdImage, kubernetesImage, etcdVersion };
}
