// What can be wrong with a release as a whole. A single broken manifest is no error of this table: it is a task of the
// payload that fails, and the rest goes on.
import { exitCodes } from '../errors/exit-codes.ts';
import { errorTable } from '../errors/firstlight-error.ts';

export const versionOperatorErrors = errorTable('VERSION', {
  PAYLOAD_INCOMPLETE: {
    message: (e: { folder: string; missing: string }) => `${e.folder} is no release: ${e.missing} is missing`,
    hint: 'firstlight release info shows what the image of a release holds. Is the image volume of the pod mounted?',
    means:
      'A release has manifests, image-references and release-metadata in release-manifests/; one of them is not there.',
    exit: exitCodes.badConfig,
  },
  PAYLOAD_UNREADABLE: {
    message: (e: { file: string; reason: string }) => `${e.file} cannot be read: ${e.reason}`,
    hint: 'The image of the release was built wrong, or is damaged. Build it again: firstlight release build.',
    means: 'image-references or release-metadata is not the JSON that it must be.',
    exit: exitCodes.badConfig,
  },
  PAYLOAD_VERSIONS: {
    message: (e: { folder: string; images: string; metadata: string }) =>
      `the release in ${e.folder} has two versions: ${e.images} in image-references, ${e.metadata} in release-metadata`,
    hint: 'The image of the release was put together from two releases. Build it again: firstlight release build.',
    means: 'Both files name the version of the release, and they must agree.',
    exit: exitCodes.badConfig,
  },
  NOT_IN_CLUSTER: {
    message: (e: { missing: string }) => `the version operator runs in no pod: ${e.missing} is not set`,
    hint: 'It is started by the Deployment openshift-cluster-version/cluster-version-operator, not by hand.',
    means: 'A pod has the address of the API in its environment, and the token of its account in a file.',
    exit: exitCodes.usage,
  },
});
