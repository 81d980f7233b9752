// Which fields of an install-config are secret. The list is short on purpose: whatever is in it is never repeated in
// a message, and is blanked in the copy of the install-config that the cluster keeps.
import type { FieldPath } from './mistake.ts';
import type { InstallConfig } from './schema.ts';

export const secretFields: readonly FieldPath[] = [['pullSecret'], ['proxy', 'httpProxy'], ['proxy', 'httpsProxy']];

export function isSecret(path: FieldPath): boolean {
  return secretFields.some((secret) => secret.every((part, i) => path[i] === part));
}

/** The same configuration without credentials: fit to be shown, logged, and stored in the cluster. */
export function withoutSecrets(config: InstallConfig): InstallConfig {
  const { pullSecret: _, proxy, ...rest } = config;
  if (proxy === undefined) return rest;
  const bare = Object.entries(proxy).map(([name, value]) => [name, withoutUser(value)]);
  return { ...rest, proxy: Object.fromEntries(bare) as InstallConfig['proxy'] };
}

function withoutUser(text: string | undefined): string | undefined {
  return text?.replace(/^(https?:\/\/)[^/]*@/, '$1');
}
