// The proxy of the machines, for the units that reach the outside world. It is set in files of mode 0600: systemd shows
// the contents of units to every user. User and password are in a separate file, because MachineConfigs can be read in
// the cluster: only the config server adds that file, to machines that it has authenticated.
import { configServerPaths, proxyCredentials, proxyEnvironment } from '../contract/machine-paths.ts';
import type { IgnitionConfig } from '../ignition/config.ts';
import { environmentText } from './environment-file.ts';
import type { UnitDropin } from './ignition-unit.ts';
import type { EnvironmentFile } from './unit.ts';
import { dropinText } from './unit.ts';

export interface ProxyUrls {
  readonly httpProxy?: string;
  readonly httpsProxy?: string;
}

/** Without user and password: these are never stored in the cluster. */
export interface MachineProxy extends ProxyUrls {
  /** The complete list of what is reached directly, with the cluster's own names and networks. */
  readonly noProxy: readonly string[];
  /** The proxy asks for user and password; machines get them from the config server. */
  readonly hasCredentials: boolean;
}

export const proxyDropin = '10-proxy.conf';

export function proxyEnvironmentText({ noProxy, ...urls }: MachineProxy): string {
  return environmentText({ ...urlVariables(urls), NO_PROXY: noProxy.join(',') });
}

/** From URLs that contain user and password. */
export function proxyCredentialsText(urls: ProxyUrls): string {
  return environmentText(urlVariables(urls));
}

function urlVariables({ httpProxy, httpsProxy }: ProxyUrls): Readonly<Record<string, string>> {
  return {
    ...(httpProxy === undefined ? {} : { HTTP_PROXY: httpProxy }),
    ...(httpsProxy === undefined ? {} : { HTTPS_PROXY: httpsProxy }),
  };
}

/** Whether machines with this config wait for the file that the config server adds. */
export function needsProxyCredentials({ systemd }: IgnitionConfig): boolean {
  return (systemd?.units ?? []).some(({ dropins = [] }) =>
    dropins.some(({ contents = '' }) => contents.includes(`=${proxyCredentials}\n`)),
  );
}

/** The bootstrap machine has the credentials among its assets; once these are removed, its units start without them. */
export function proxyDropins(
  { hasCredentials }: MachineProxy,
  { units, isBootstrap }: { readonly units: readonly string[]; readonly isBootstrap: boolean },
): readonly UnitDropin[] {
  const credentials: EnvironmentFile = isBootstrap
    ? { path: configServerPaths.proxyCredentials, isOptional: true }
    : { path: proxyCredentials };
  // If both files set a variable, the later file wins.
  const files = [{ path: proxyEnvironment }, ...(hasCredentials ? [credentials] : [])];
  const text = dropinText({ service: { EnvironmentFile: files } });
  return units.map((unit) => ({ unit, name: proxyDropin, text }));
}
