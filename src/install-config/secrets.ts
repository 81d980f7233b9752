// Which fields of an install-config are secret. The list is short on purpose: a secret is never repeated in
// a message, and is blanked in the copy of the install-config that the cluster keeps.
import { areRelated, type FieldPath } from '../source-text/field-path.ts';
import type { InstallConfig } from './schema.ts';

const secretFields: readonly FieldPath[] = [['pullSecret'], ['proxy', 'httpProxy'], ['proxy', 'httpsProxy']];

/** Also true of a field that contains a secret one: a user may have put the text one level too high. */
export function holdsSecret(path: FieldPath): boolean {
  return secretFields.some((secret) => areRelated(secret, path));
}

/** The same configuration without credentials: fit to be shown, logged, and stored in the cluster. */
export function withoutSecrets(config: InstallConfig): InstallConfig {
  const { pullSecret: _, proxy, ...rest } = config;
  if (proxy === undefined) return rest;
  const bare = Object.entries(proxy).map(([name, value]) => [name, value && withoutUser(value)]);
  return { ...rest, proxy: Object.fromEntries(bare) as InstallConfig['proxy'] };
}

/** A proxy's URL without user and password. */
export function withoutUser(url: string): string {
  return url.replace(/^(https?:\/\/)[^/]*@/, '$1');
}
