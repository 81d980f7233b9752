// `firstlight gather analyze [file]`
import { optionalArgument } from '../frame/option.ts';
import { typedPath } from '../frame/paths.ts';
import { defineVerb } from '../frame/verb.ts';

export const gatherAnalyzeVerb = defineVerb({
  description:
    'Reads a bundle, also one that somebody sent you, and says what it says: what failed first, stages, units, machines. Nothing is unpacked and no cluster is asked. Without a file it reads the newest of the asset folder.',
  args: { file: optionalArgument('a log-bundle-….tar.gz') },
  examples: ['firstlight gather analyze', 'firstlight gather analyze cluster/log-bundle-20261116193000.tar.gz -o json'],
  run: async ({ host, global, args }) => {
    const { newestBundle, readLogBundle } = await import('../../gather/bundle-archive.ts');
    const { summarizeBundle } = await import('../../gather/summarize-bundle.ts');
    const { bundleText } = await import('./bundle-text.ts');
    const path = args.file === undefined ? await newestBundle(host.files, global.dir) : typedPath(host, args.file);
    const summary = summarizeBundle(await readLogBundle(host.files, path));
    return { data: { bundle: path, ...summary }, text: bundleText(summary) };
  },
});
