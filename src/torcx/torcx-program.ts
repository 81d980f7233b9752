// torcx through its own program. Only its arguments and its JSON are read; its other output is for people.
import { z } from 'zod';
import { isError } from '../errors/firstlight-error.ts';
import { hostErrors } from '../host/errors.ts';
import type { Host } from '../host/host.ts';
import { torcxErrors } from './errors.ts';
import type { Torcx } from './torcx.ts';

const imageList = z.object({
  kind: z.literal('torcx-image-list-v0'),
  value: z.array(z.object({ name: z.string(), reference: z.string(), filepath: z.string() })).nullable(),
});
const profileList = z.object({
  kind: z.literal('torcx-profile-list-v0'),
  value: z.object({ next_profile_name: z.string().nullish(), profiles: z.array(z.string()).nullish() }),
});

const limitMs = 60_000;

export function torcxProgram(host: Host, program: string, signal: AbortSignal): Torcx {
  // These variables say where torcx's folders are, if not in the default places.
  const env = Object.fromEntries(
    Object.entries(host.environment.variables).filter(([name]) => name.startsWith('TORCX_')),
  );
  const run = async (args: readonly string[]): Promise<string> => {
    const operation = args.join(' ');
    const result = await host.processes
      .run(program, args, { timeoutMs: limitMs, signal, env })
      .catch((error: unknown) => {
        if (!isError(error, hostErrors.PROGRAM_MISSING)) throw error;
        throw torcxErrors.TORCX({ operation, reason: `${program} is not there` }, { cause: error });
      });
    if (result.code === 0) return result.stdout;
    const how = result.timedOut ? `no end within ${limitMs / 1000} s` : `exit ${result.code ?? result.signal}`;
    throw torcxErrors.TORCX({ operation, reason: `${how}: ${result.stderr.trim().slice(-500)}` });
  };
  const read = async <T>(args: readonly string[], schema: z.ZodType<T>): Promise<T> => {
    const stdout = await run(args);
    try {
      return schema.parse(JSON.parse(stdout));
    } catch (error) {
      throw torcxErrors.TORCX(
        { operation: args.join(' '), reason: 'its answer is not of the known form' },
        { cause: error },
      );
    }
  };
  return {
    probe: async () => void (await run(['help'])),
    listImages: async (osVersion, name) =>
      (await read(['image', 'list', '-n', osVersion, name], imageList)).value ?? [],
    listProfiles: async () => {
      const { value } = await read(['profile', 'list'], profileList);
      return { next: value.next_profile_name ?? undefined, names: value.profiles ?? [] };
    },
    newProfile: async (name) => void (await run(['profile', 'new', '--name', name])),
    useImage: async (profile, { name, reference }) =>
      void (await run(['profile', 'use-image', '--allow=missing', '--name', profile, `${name}:${reference}`])),
    setNext: async (profile) => void (await run(['profile', 'set-next', profile])),
  };
}
