// `firstlight release build`
import { resolve } from 'node:path';
import { z } from 'zod';
import { buildRelease } from '../../release/build/build-release.ts';
import { partSources } from '../../release/build/workshop.ts';
import { megabytes } from '../../release/build/recipe-stage.ts';
import type { CommandBody, Invocation } from '../frame/verb.ts';
import { firstlightVersion } from '../frame/program.ts';
import { projectFolder } from '../frame/project-folder.ts';

const optionsSchema = z.object({
  part: z.array(z.string()).optional(),
  source: z.enum(partSources),
  withoutMachines: z.boolean().optional(),
  signKey: z.string().optional(),
});

export const releaseBuild: CommandBody = async (invocation) => {
  const { host, emit, signal } = invocation;
  const options = optionsSchema.parse(invocation.options);
  const built = await buildRelease({
    host,
    emit,
    signal,
    version: firstlightVersion,
    projectFolder: await projectFolder(host),
    source: options.source,
    withMachines: options.withoutMachines !== true,
    ...(options.part === undefined ? {} : { onlyParts: options.part }),
  });
  const signed = options.signKey === undefined ? undefined : await sign(invocation, options.signKey);
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
};

async function sign({ host }: Invocation, key: string): Promise<string> {
  const { signCurrentRelease } = await import('../../release/sign-release.ts');
  return signCurrentRelease(host, resolve(host.environment.workingFolder, key));
}
