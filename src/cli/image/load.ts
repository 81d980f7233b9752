// `firstlight image load FILE`
import { argument, option, text } from '../frame/option.ts';
import { typedPath } from '../frame/paths.ts';
import { defineVerb } from '../frame/verb.ts';

export const imageLoadVerb = defineVerb({
  description: [
    'Pushes the images of an archive (docker save, podman save, an OCI archive, firstlight release extract) into the',
    'registry of the cluster and prints the name by which pods pull each. The name is that of the archive without its',
    'host. What the registry has already is not sent again.',
  ].join(' '),
  args: { file: argument('a tar file or an OCI layout') },
  options: { as: option('--as <name>', 'another name than that of the archive, such as team/app:1', text) },
  examples: ['firstlight image load app.tar', 'firstlight image load app.tar --as team/app:1 --dir lab'],
  run: async ({ host, global, args, options, emit, signal }) => {
    const { loadImages } = await import('../../cluster/load-images.ts');
    const archive = typedPath(host, args.file);
    const loaded = await loadImages({ host, dir: global.dir, archive, as: options.as, emit, signal });
    return { data: { images: loaded }, text: loaded.map(({ image, digest }) => `${image}  ${digest}\n`).join('') };
  },
});
