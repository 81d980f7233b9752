// `firstlight release build`
import type { Host } from '../../host/host.ts';
import { choiceOf, flag, option, optionWithDefault, repeatableOption, text } from '../frame/option.ts';
import { projectFolder, typedPath } from '../frame/paths.ts';
import { firstlightVersion } from '../frame/program.ts';
import { defineVerb } from '../frame/verb.ts';

export const releaseBuildVerb = defineVerb({
  description:
    'Everything is kept by digest in the cache folder ($FIRSTLIGHT_CACHE, else ~/.cache/firstlight), so a second call ' +
    'has nothing to do and an interrupted one continues. The first build compiles Kubernetes: about 12 minutes on two cores.',
  options: {
    part: repeatableOption('--part <name>', 'build only this part (may be repeated)', text),
    source: optionWithDefault(
      '--source <where>',
      'take official binaries where they are pinned and can be reached, or always compile',
      choiceOf(['any', 'build']),
      'any',
    ),
    withoutMachines: flag('--without-machines', 'parts and images only; needs no root'),
    signKey: option('--sign-key <file>', 'sign the release with this OpenPGP secret key', text),
  },
  examples: [
    'firstlight release build',
    'firstlight release build --part etcd --part pause',
    'firstlight release build --source build --sign-key release.key',
  ],
  run: async ({ host, emit, signal, options }) => {
    const { buildRelease } = await import('../../release/build/build-release.ts');
    const { megabytes } = await import('../../release/build/recipe-stage.ts');
    const built = await buildRelease({
      host,
      emit,
      signal,
      version: firstlightVersion,
      projectFolder: await projectFolder(host),
      source: options.source,
      withMachines: !options.withoutMachines,
      ...(options.part.length === 0 ? {} : { onlyParts: options.part }),
    });
    const signed = options.signKey === undefined ? undefined : await sign(host, options.signKey);
    const entries = built.entries.map(({ manifest: { kind, name, key, treeDigest, sizeBytes } }) => ({
      kind,
      name,
      key,
      digest: treeDigest,
      sizeBytes,
    }));
    const size = megabytes(entries.reduce((sum, entry) => sum + entry.sizeBytes, 0));
    const what = built.made.length === 0 ? 'nothing to do' : `made ${built.made.length}`;
    return {
      data: {
        cache: built.cacheFolder,
        made: built.made,
        entries,
        ...(signed === undefined ? {} : { signature: signed }),
      },
      text: `${what}; ${entries.length} entries, ${size}, in ${built.cacheFolder}\n${signed === undefined ? '' : `signed: ${signed}\n`}`,
    };
  },
});

async function sign(host: Host, key: string): Promise<string> {
  const { signCurrentRelease } = await import('../../release/release-signature.ts');
  return signCurrentRelease(host, typedPath(host, key));
}
