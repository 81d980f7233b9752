// How machines reach the internet, from the install-config: the proxy with everything that must not go through it; its
// user and password, which only the bootstrap machine gets and serves to others; the mirrors of registries.
import { clusterDomain } from '../install-config/cluster-facts.ts';
import { mirrorBase, registryHost } from '../install-config/image-mirror.ts';
import type { InstallConfig } from '../install-config/schema.ts';
import { withoutUser } from '../install-config/secrets.ts';
import { type MachineProxy, type ProxyUrls, proxyCredentialsText } from '../machine-software/proxy.ts';
import type { Registry } from '../machine-software/registry-hosts.ts';

/** Names of Services and pods, the same in every cluster. */
const insideNames = ['.cluster.local', '.svc'];
const thisMachine = ['127.0.0.1', 'localhost'];

export function machineProxy(config: InstallConfig): MachineProxy | undefined {
  const { proxy } = config;
  if (proxy === undefined) return undefined;
  return {
    ...proxyUrls(proxy, withoutUser),
    noProxy: noProxyOf(config),
    hasCredentials: proxyCredentialsContent(config) !== undefined,
  };
}

/** The file with user and password; undefined where the proxy is given without. */
export function proxyCredentialsContent({ proxy = {} }: InstallConfig): string | undefined {
  const secret = proxyUrls(proxy, (url) => (withoutUser(url) === url ? undefined : url));
  return Object.keys(secret).length === 0 ? undefined : proxyCredentialsText(secret);
}

function proxyUrls(given: ProxyUrlsGiven, of: (url: string) => string | undefined): ProxyUrls {
  const [httpProxy, httpsProxy] = [given.httpProxy, given.httpsProxy].map((url) => url && of(url));
  return {
    ...(httpProxy === undefined ? {} : { httpProxy }),
    ...(httpsProxy === undefined ? {} : { httpsProxy }),
  };
}
type ProxyUrlsGiven = NonNullable<InstallConfig['proxy']>;

/** What the user gave and everything inside the cluster: a machine that used a proxy for these would never join. */
function noProxyOf(config: InstallConfig): readonly string[] {
  const { machineNetwork, clusterNetwork, serviceNetwork } = config.networking;
  const networks = [...machineNetwork, ...clusterNetwork].map(({ cidr }) => cidr);
  const api = ['api', 'api-int'].map((name) => `${name}.${clusterDomain(config)}`);
  const given = config.proxy?.noProxy?.split(',') ?? [];
  return [...new Set([...thisMachine, ...insideNames, ...api, ...networks, ...serviceNetwork, ...given])].sort();
}

/** containerd knows mirrors per registry: those of all sources in one registry are its mirrors, in the order given. */
export function mirroredRegistries({ imageDigestSources }: InstallConfig): readonly Registry[] {
  const byHost = Map.groupBy(imageDigestSources, ({ source }) => registryHost(source));
  return [...byHost].flatMap(([name, sources]) => {
    const urls = new Set(sources.flatMap(({ source, mirrors }) => mirrors.map((mirror) => mirrorUrl(source, mirror))));
    const mirrors = [...urls].map((url) => ({ url }));
    return mirrors.length === 0 ? [] : [{ name, mirrors, isDigestOnly: true }];
  });
}

function mirrorUrl(source: string, mirror: string): string {
  const base = mirrorBase(source, mirror);
  if (base === undefined) throw new Error(`${mirror} cannot mirror ${source}; the rules of the install-config say so`);
  const root = `https://${registryHost(mirror)}`;
  return base === '' ? root : `${root}/v2/${base}`;
}
