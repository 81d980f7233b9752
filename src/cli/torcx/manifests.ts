// `firstlight torcx manifests`
import { ownImageVariable } from '../../contract/bootkube-environment.ts';
import type { Host } from '../../host/host.ts';
import { option, optionWithDefault, text } from '../frame/option.ts';
import { defineVerb } from '../frame/verb.ts';

export const torcxManifestsVerb = defineVerb({
  description:
    'Prints the before-reboot hook as Kubernetes objects: a DaemonSet for nodes that are about to reboot into an OS update, and the rights that it needs: its pod may set one annotation of its own Node and nothing else, which an admission policy enforces. The ConfigMap that it reads is part of every cluster with nodeBootstrap: torcx.',
  options: {
    image: option('--image <reference>', 'the image of firstlight (default that of the release built last)', text),
    annotation: optionWithDefault(
      '--annotation <key>',
      'what the hook sets to "true" on its Node, and the update operator waits for',
      text,
      'container-linux-update.v1.coreos.com/tectonic-torcx-pre-hook-ok',
    ),
    namespace: option('--namespace <name>', 'where the hook runs (default that of the runtime mappings)', text),
  },
  examples: ['firstlight torcx manifests | firstlight kubectl apply -f -'],
  run: async ({ host, options }) => {
    const { hookManifests } = await import('../../torcx/hook-manifests.ts');
    const { toYamlDocuments } = await import('../../kubernetes/yaml.ts');
    const { image, annotation, namespace } = options;
    const objects = hookManifests({
      image: image ?? (await ownImage(host)),
      annotation,
      ...(namespace === undefined ? {} : { namespace }),
    });
    return { data: objects, text: toYamlDocuments(objects) };
  },
});

async function ownImage(host: Host): Promise<string> {
  const { currentRelease } = await import('../../release/current.ts');
  const { manifest } = await currentRelease(host);
  return manifest.imageVariables[ownImageVariable]?.reference ?? '';
}
