// What V8 makes of our program, laid beside it in the machine root: machines start some twenty processes of ours while a
// cluster comes up, and each would compile the same text again. Only a saving: whatever is missing or does not fit is
// compiled as before. V8 takes nothing that was made under other flags, so it is made for both sets of them.
import { join } from 'node:path';
import type { Work, Workshop } from '../build/workshop.ts';
import { releaseErrors } from '../errors.ts';
import { firstlightFolder } from '../images/firstlight-image.ts';
import { inRoot } from './in-root.ts';

/** For units that say FIRSTLIGHT_SIZE=small. */
export const smallFlags: readonly string[] = ['--single-threaded', '--no-opt', '--no-sparkplug', '--optimize-for-size'];

/** Where src/main.ts looks for it. */
const cacheFolder = `/${firstlightFolder}/.toolchain/compile-cache`;

/** Importing runs no more of a chunk than its declarations. Some are for libraries that are not there; nobody misses them. */
export const compileScript = `
import { flushCompileCache } from 'node:module';
import { readdirSync } from 'node:fs';
const chunks = '/${firstlightFolder}/dist/chunks/';
for (const name of readdirSync(chunks).filter((each) => each.endsWith('.mjs'))) await import(chunks + name).catch(() => {});
flushCompileCache();
`;

export async function keepCompiledProgram(shop: Workshop, { folder, signal }: Work): Promise<void> {
  const part = 'the machine root';
  const node = `/${firstlightFolder}/bin/node`;
  for (const flags of [[], smallFlags]) {
    const command = [node, ...flags, '--input-type=module', '--eval', compileScript];
    await inRoot(shop.host, { folder, command, part, env: { NODE_COMPILE_CACHE: cacheFolder }, signal });
  }
  const kept = (await shop.host.files.list(join(folder, cacheFolder))) ?? [];
  if (kept.length < 2) {
    const reason = `Node kept ${kept.length} of 2 compiled forms of our program in ${cacheFolder}`;
    throw releaseErrors.BUILD_FAILED({ part, reason });
  }
}
