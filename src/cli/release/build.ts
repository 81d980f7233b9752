// `firstlight release build`
import { dirname, resolve } from 'node:path';
import type { Host } from '../../host/host.ts';
import { choiceOf, flag, option, optionWithDefault, repeatableOption, text, type ValueKind } from '../frame/option.ts';
import { projectFolder, typedPath } from '../frame/paths.ts';
import { firstlightVersion } from '../frame/program.ts';
import { defineVerb } from '../frame/verb.ts';

const componentWord: ValueKind<string> = {
  parse: (word) => (/^[^=]+=.+$/.test(word) ? word : undefined),
  expected: 'NAME=IMAGE, such as ingress=ingress-operator.tar',
};

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
    component: repeatableOption(
      '--component <name=image>',
      'let this image render a component in place of ours: an OCI layout, a folder or a tar file (may be repeated)',
      componentWord,
    ),
    components: option('--components <file>', 'a file with one NAME=IMAGE per line', text),
    withoutMachines: flag('--without-machines', 'parts and images only; needs no root'),
    signKey: option('--sign-key <file>', 'sign the release with this OpenPGP secret key', text),
  },
  examples: [
    'firstlight release build',
    'firstlight release build --part etcd --part pause',
    'firstlight release build --source build --sign-key release.key',
    'firstlight release build --component ingress=ingress-operator.tar',
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
      components: [
        ...options.component.map((word) => componentSource(word, host.environment.workingFolder)),
        ...(options.components === undefined ? [] : await componentFile(host, options.components)),
      ],
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

/** `NAME=PATH`; the path is relative to the folder of whoever wrote it. */
function componentSource(word: string, folder: string): { readonly component: string; readonly path: string } {
  const [component = '', ...path] = word.split('=');
  return { component: component.trim(), path: resolve(folder, path.join('=').trim()) };
}

async function componentFile(host: Host, file: string): Promise<readonly ReturnType<typeof componentSource>[]> {
  const path = typedPath(host, file);
  const lines = (await host.files.readText(path)).split('\n').map((line) => line.trim());
  const words = lines.filter((line) => line !== '' && !line.startsWith('#'));
  const wrong = words.find((line) => componentWord.parse(line) === undefined);
  if (wrong !== undefined) {
    const { cliErrors } = await import('../frame/errors.ts');
    const reason = `${file}: ${wrong} is not ${componentWord.expected}`;
    throw cliErrors.USAGE({ command: 'firstlight release build', reason });
  }
  return words.map((line) => componentSource(line, dirname(path)));
}

async function sign(host: Host, key: string): Promise<string> {
  const { signCurrentRelease } = await import('../../release/release-signature.ts');
  return signCurrentRelease(host, typedPath(host, key));
}
