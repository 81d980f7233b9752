// The settings of a config server: which machines it lets in, and which load balancers it trusts. The bootstrap machine
// gets the file from the assets, and the config server reads it.
import { z } from 'zod';
import type { Files } from '../host/files.ts';
import { configServerSettingsErrors } from './errors.ts';

const schema = z.strictObject({
  access: z.enum(['token', 'open']).default('token'),
  /** Addresses from which connections come with a PROXY v2 header. */
  balancers: z.array(z.union([z.ipv4(), z.ipv6()])).default([]),
  /**
   * How many machines may have been served within an hour and not have joined. More than start in an hour; a loop that
   * fetches and never joins stops here instead of filling the disk.
   */
  outstandingTokens: z.int().positive().default(20_000),
  /** How long it is unhealthy before it stops: load balancers check several times a second. */
  leaveMs: z.int().nonnegative().default(1_000),
});

export type ConfigServerSettings = Readonly<z.output<typeof schema>>;

export function serverSettingsText(settings: Readonly<z.input<typeof schema>>): string {
  return `${JSON.stringify(settings, null, 2)}\n`;
}

/** The defaults where there is no such file. Throws CONFIGSERVER_SETTINGS for one that cannot be read. */
export async function readServerSettings(files: Files, path: string | undefined): Promise<ConfigServerSettings> {
  const content = path === undefined ? undefined : await files.readIfPresent(path);
  if (path === undefined || content === undefined) return schema.parse({});
  try {
    return schema.parse(JSON.parse(Buffer.from(content).toString('utf8')));
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw configServerSettingsErrors.SETTINGS({ path, reason }, { cause: error });
  }
}
