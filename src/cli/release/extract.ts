// `firstlight release extract`
import { cliErrors } from '../frame/errors.ts';
import { option, optionWithDefault, text } from '../frame/option.ts';
import { typedPath } from '../frame/paths.ts';
import { defineVerb } from '../frame/verb.ts';

export const releaseExtractVerb = defineVerb({
  description:
    'A part (etcd) is written as its programs, an image (etcd-image) or the whole release (release) as an OCI archive ' +
    'that ctr, podman and skopeo read, the bill of materials (sbom) as CycloneDX JSON, and manifests as the files that ' +
    'the version operator applies in a cluster.',
  options: {
    component: option('--component <name>', 'part, image with -image, release, manifests or sbom', text),
    to: optionWithDefault('--to <folder>', 'where to write', text, '.'),
  },
  examples: [
    'firstlight release extract --component kubernetes --to bin',
    'firstlight release extract --component etcd-image',
    'firstlight release extract --component manifests --to manifests',
    'firstlight release extract --component sbom',
  ],
  run: async ({ host, options: { component, to } }) => {
    const command = 'firstlight release extract';
    if (component === undefined) throw cliErrors.USAGE({ command, reason: 'name what to take with --component' });
    const { extractComponent } = await import('../../release/extract.ts');
    const extracted = await extractComponent(host, component, typedPath(host, to));
    return { data: extracted, text: extracted.files.map((file) => `${file}\n`).join('') };
  },
});
