// Which proxy a URL goes through, by the environment variables of the node; the caller passes it to the network.
// NO_PROXY follows Go's rules, for which the units were written: a name matches itself and its subdomains, a leading
// dot only subdomains, addresses also match by CIDR, `*` matches everything.
import ipaddr from 'ipaddr.js';

type Variables = Readonly<Record<string, string | undefined>>;

export function proxyFor(target: string, variables: Variables): string | undefined {
  const url = new URL(target);
  const isSecure = url.protocol === 'https:';
  const proxy = pick(variables, isSecure ? 'https_proxy' : 'http_proxy');
  if (proxy === undefined || isExempt(url, pick(variables, 'no_proxy') ?? '')) return undefined;
  return proxy.includes('://') ? proxy : `http://${proxy}`;
}

function pick(variables: Variables, name: string): string | undefined {
  const value = variables[name.toUpperCase()] || variables[name];
  return value === '' ? undefined : value;
}

function isExempt(url: URL, rules: string): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  if (host === 'localhost' || isLoopback(host)) return true;
  return rules
    .split(',')
    .map((rule) => rule.trim().toLowerCase())
    .some((rule) => rule !== '' && matches(rule, host, port));
}

function matches(rule: string, host: string, port: string): boolean {
  if (rule === '*') return true;
  if (ipaddr.isValid(host)) return matchesAddress(rule, host, port);
  const [name = '', wantedPort] = rule.split(':');
  if (wantedPort !== undefined && wantedPort !== port) return false;
  const suffix = name.replace(/^\*/, '');
  return suffix.startsWith('.') ? host.endsWith(suffix) : host === suffix || host.endsWith(`.${suffix}`);
}

function matchesAddress(rule: string, host: string, port: string): boolean {
  const address = ipaddr.process(host);
  if (ipaddr.isValidCIDR(rule)) {
    const [network, bits] = ipaddr.parseCIDR(rule);
    return network.kind() === address.kind() && address.match(network, bits);
  }
  if (ipaddr.isValid(rule)) return ipaddr.process(rule).toString() === address.toString();
  const at = rule.lastIndexOf(':');
  const inner = rule.slice(0, at).replace(/^\[|\]$/g, '');
  return at > 0 && rule.slice(at + 1) === port && ipaddr.isValid(inner) && matchesAddress(inner, host, port);
}

function isLoopback(host: string): boolean {
  return ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback';
}
