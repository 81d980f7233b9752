// The way out to the world through a proxy, for the units that go there. In files and not in units: what a unit says is
// told to everybody who asks systemd, a file of mode 0600 is not. User and password are in a file of their own, because
// MachineConfigs can be read in the cluster: only the config server, which knows whom it answers, adds that one.
import type { Config } from '../ignition/config.ts';
import { environmentText } from './environment-file.ts';
import type { UnitDropin } from './ignition-unit.ts';
import { configServerPaths, proxyCredentials, proxyEnvironment } from '../contract/machine-paths.ts';
import type { EnvironmentFile } from './unit.ts';
import { dropinText } from './unit.ts';

export interface ProxyUrls {
  readonly httpProxy?: string;
  readonly httpsProxy?: string;
}

/** Without user and password, which are never part of what a cluster knows about itself. */
export interface MachineProxy extends ProxyUrls {
  /** What is reached directly, complete: the cluster's own names and networks are in it. */
  readonly noProxy: readonly string[];
  /** The proxy asks for user and password; machines get them from the config server. */
  readonly hasCredentials: boolean;
}

export const proxyDropin = '10-proxy.conf';

export function proxyEnvironmentText({ noProxy, ...urls }: MachineProxy): string {
  return environmentText({ ...urlVariables(urls), NO_PROXY: noProxy.join(',') });
}

/** Of the URLs with user and password in them. */
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
export function needsProxyCredentials({ systemd }: Config): boolean {
  return (systemd?.units ?? []).some(({ dropins = [] }) =>
    dropins.some(({ contents = '' }) => contents.includes(`=${proxyCredentials}\n`)),
  );
}

/** The bootstrap machine has the credentials among its assets; when those are removed its units go on without. */
export function proxyDropins(
  { hasCredentials }: MachineProxy,
  { units, isBootstrap }: { readonly units: readonly string[]; readonly isBootstrap: boolean },
): readonly UnitDropin[] {
  const credentials: EnvironmentFile = isBootstrap
    ? { path: configServerPaths.proxyCredentials, isOptional: true }
    : { path: proxyCredentials };
  // Of a variable in both files the later one counts.
  const files = [{ path: proxyEnvironment }, ...(hasCredentials ? [credentials] : [])];
  const text = dropinText({ service: { EnvironmentFile: files } });
  return units.map((unit) => ({ unit, name: proxyDropin, text }));
}
