// Stage 2: the release manifest, the digest of the release image, and one image variable per component.
import {
  bootkubeEnvironmentText,
  digestOfReference,
  parseBootkubeEnvironment,
  releaseImageVariable,
} from '../../contract/bootkube-environment.ts';
import { bootkubeEnvironmentFile, releaseImageFile } from '../../contract/machine-paths.ts';
import { readRendered } from '../checks.ts';
import { machineFolders, releaseImage } from '../context.ts';
import { renderStage, type StageCheck } from '../render-stage.ts';

const identity = { number: 2, name: 'release-info' } as const;

const digestVariable = 'RELEASE_IMAGE_DIGEST';

/** Manifests of one release must never be rendered by the program of another. */
const releaseIsTheBootedOne: StageCheck = {
  name: 'the config of this machine names the release that the machine was made from',
  run: async ({ images, bootedRelease }) => {
    const [named, booted] = [images[releaseImageVariable] ?? '', bootedRelease ?? ''].map(digestOfReference);
    if (booted === undefined) return `${releaseImageFile} names no release by digest`;
    if (named === undefined) return `${releaseImageVariable} is ${images[releaseImageVariable]}, which is no digest`;
    return named === booted
      ? undefined
      : `${bootkubeEnvironmentFile} names ${named}, the machine was made from ${booted}`;
  },
};

const variablesAreInRelease: StageCheck = {
  name: 'every image variable names an image of the release by its digest',
  run: async (context) => {
    const known = new Set(context.release.images.map(({ reference }) => reference));
    const written = parseBootkubeEnvironment(await readRendered(context, identity, 'images.env'));
    const wrong = Object.keys(context.release.imageVariables).find((name) => !known.has(written[name] ?? ''));
    return wrong === undefined ? undefined : `images.env: ${wrong} is ${written[wrong] ?? 'missing'}`;
  },
};

export const releaseInfoStage = renderStage({
  ...identity,
  why: 'Learns the digest of the release image and of every image in it. From here on images are named by digest, so two bootstraps of one release run the same bytes.',
  inputs: [machineFolders.releaseFile, releaseImageFile, bootkubeEnvironmentFile],
  outputs: ['release.json', 'images.env'],
  render: async (context) => {
    const { release, images } = context;
    const digest = digestOfReference(releaseImage(context, releaseImageVariable)) ?? '';
    return [
      { path: 'release.json', content: `${JSON.stringify(release, null, 2)}\n` },
      { path: 'images.env', content: `${bootkubeEnvironmentText(images)}${digestVariable}=${digest}\n` },
    ];
  },
  verify: [releaseIsTheBootedOne, variablesAreInRelease],
});
