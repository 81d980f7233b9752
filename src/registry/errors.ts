// What can go wrong between an archive of images and the registry of a cluster.
import { exitCodes } from '../errors/exit-codes.ts';
import { errorTable } from '../errors/firstlight-error.ts';

export const registryErrors = errorTable('REGISTRY', {
  ARCHIVE: {
    message: (e: { path: string; reason: string }) => `${e.path} is no archive of images that can be used: ${e.reason}`,
    hint: 'docker save, podman save, skopeo copy oci-archive: and firstlight release extract write archives that can.',
    means: 'An archive is a tar file, not compressed, with an OCI layout or with what docker save writes.',
    exit: exitCodes.usage,
  },
  NAME: {
    message: (e: { name: string; reason: string }) =>
      `${JSON.stringify(e.name)} cannot be the name of an image: ${e.reason}`,
    hint: 'Name it with --as, such as --as team/app:1.',
    means:
      'In the registry an image has a path in lower case and a tag. The archive has none for it, or one that the registry refuses.',
    exit: exitCodes.usage,
  },
  REFUSED: {
    message: (e: { what: string; status: number; reason: string }) =>
      `the registry does not ${e.what}: it answers ${e.status}${e.reason === '' ? '' : ` (${e.reason})`}`,
    hint: 'firstlight kubectl -n openshift-image-registry logs deployment/registry -c push says more.',
    means:
      'The registry was reached and did not do what was asked. What was pushed before stays, and is not sent again.',
    exit: exitCodes.infrastructure,
  },
});
