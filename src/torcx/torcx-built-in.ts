// The operations of torcx on its files, without its program and by the same rules; test/oracle/torcx-hook.test.ts runs
// the same steps through both.
import { join } from 'node:path';
import type { TorcxContext } from './context.ts';
import { nodePaths, reasonOf } from './context.ts';
import { torcxErrors } from './errors.ts';
import { emptyProfile, formatProfile, parseProfile, withImage } from './profile.ts';
import { imagesIn, storeFolders } from './stores.ts';
import type { Torcx } from './torcx.ts';

export function builtInTorcx(context: TorcxContext, runningOs: string): Torcx {
  const { host, at } = context;
  const { files } = host;
  const userProfile = (name: string): string => at(join(nodePaths.userProfiles, `${name}.json`));
  return {
    probe: async () => {},
    listImages: async (osVersion, name) => {
      const found = [];
      for (const folder of await storeFolders(context, osVersion, runningOs)) {
        found.push(...(await imagesIn(context, folder)).filter((image) => image.name === name));
      }
      return found;
    },
    listProfiles: async () => {
      const names = await profileNames(context);
      const next = Buffer.from((await files.readIfPresent(at(nodePaths.nextProfile))) ?? new Uint8Array());
      const name = next.toString('utf8').trim();
      return { names, next: names.includes(name) ? name : undefined };
    },
    newProfile: async (name) => {
      if ((await profileNames(context)).includes(name)) throw failed(`profile new ${name}`, 'it exists already');
      await files.makeFolder(at(nodePaths.userProfiles));
      await files.write(userProfile(name), `${formatProfile(emptyProfile)}\n`);
    },
    useImage: async (profile, { name, reference }) => {
      const path = userProfile(profile);
      const content = await files.readIfPresent(path);
      const facts = await files.facts(path);
      const operation = `profile use-image ${profile} ${name}:${reference}`;
      if (content === undefined || facts === undefined) throw failed(operation, `there is no user profile ${profile}`);
      const before = readProfile(operation, Buffer.from(content).toString('utf8'));
      const after = formatProfile(withImage(before, name, reference));
      if (after !== Buffer.from(content).toString('utf8')) await files.write(path, after, { mode: facts.mode });
    },
    setNext: async (profile) => {
      if (!(await profileNames(context)).includes(profile)) {
        throw failed(`profile set-next ${profile}`, 'there is no such profile');
      }
      await files.write(at(nodePaths.nextProfile), `${profile}\n`);
    },
  };
}

function readProfile(operation: string, text: string) {
  try {
    return parseProfile(text);
  } catch (error) {
    throw torcxErrors.TORCX({ operation, reason: reasonOf(error) }, { cause: error });
  }
}

async function profileNames({ host, at }: TorcxContext): Promise<readonly string[]> {
  const names = new Set<string>();
  for (const folder of nodePaths.profileFolders) {
    for (const file of (await host.files.list(at(folder))) ?? []) {
      if (!file.endsWith('.json') || file.startsWith('.')) continue;
      if ((await host.files.facts(at(join(folder, file))))?.kind === 'file') names.add(file.slice(0, -'.json'.length));
    }
  }
  return [...names].sort();
}

function failed(operation: string, reason: string) {
  return torcxErrors.TORCX({ operation, reason });
}
