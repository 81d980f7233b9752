// The settings of a config server: which machines it accepts, and which load balancers it trusts. The bootstrap machine
// gets the file from the assets, and the config server reads it.
import { z } from 'zod';
import type { Files } from '../host/files.ts';
import { configServerSettingsErrors } from './errors.ts';

const schema = z.strictObject({
  access: z.enum(['token', 'open']).default('token'),
  /** Addresses of load balancers, whose connections start with a PROXY v2 header. */
  balancers: z.array(z.union([z.ipv4(), z.ipv6()])).default([]),
  /**
   * The limit for machines that were served within an hour and have not joined. It is higher than the number of
   * machines that start in an hour. It stops a loop that fetches and never joins, before the disk is full.
   */
  outstandingTokens: z.int().positive().default(20_000),
  /** How long the server reports unhealthy before it stops. Load balancers check several times a second. */
  leaveMs: z.int().nonnegative().default(1_000),
});

export type ConfigServerSettings = Readonly<z.output<typeof schema>>;

export function serverSettingsText(settings: Readonly<z.input<typeof schema>>): string {
  return `${JSON.stringify(settings, null, 2)}\n`;
}

/** Returns the defaults if the file does not exist. Throws CONFIGSERVER_SETTINGS for a file that cannot be read. */
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
