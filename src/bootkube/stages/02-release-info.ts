// Stage 2: the release manifest, with every image by digest, and one image variable per component.
import { machineFolders } from '../context.ts';
import { renderStage } from '../render-stage.ts';

export const releaseInfoStage = renderStage({
  number: 2,
  name: 'release-info',
  why: 'From here on everything is named by digest, so that two bootstraps of one release start the same bytes.',
  originalCommand: 'oc adm release info ${RELEASE_IMAGE} -o json',
  inputs: [machineFolders.releaseFile],
  outputs: ['release.json', 'images.env'],
  render: async ({ release }) => {
    const images = Object.entries(release.imageVariables).map(([name, { reference }]) => `${name}=${reference}\n`);
    return [
      { path: 'release.json', content: `${JSON.stringify(release, null, 2)}\n` },
      { path: 'images.env', content: images.join('') },
    ];
  },
});
