// The processor's name as Go, Debian and OCI say it.
import type { Host } from '../../host/host.ts';

const names: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

export function goArchitecture({ host }: { readonly host: Host }): string {
  const { architecture } = host.environment;
  return names[architecture] ?? architecture;
}
