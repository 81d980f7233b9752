// Prepares this machine for its kubelet: observe, decide, write. Runs at every boot, because /run is empty then; the
// last file written is the one that lets the kubelet start, so an interrupted run only means that it runs again.
import { dirname } from 'node:path';
import { hostsFile, sysctlFile } from '../contract/machine-paths.ts';
import { readNodeSettings } from '../contract/node-settings.ts';
import type { Host } from '../host/host.ts';
import type { NodePreparation } from './node-preparation.ts';
import { nodePreparation } from './node-preparation.ts';
import { observeMachine } from './observe-machine.ts';

export async function prepareNode(host: Host): Promise<NodePreparation> {
  const settings = await readNodeSettings(host);
  // On the first boot systemd-sysctl.service ran before Ignition had written our file.
  await host.processes.run('/usr/lib/systemd/systemd-sysctl', [sysctlFile], { timeoutMs: 10_000 });
  const preparation = nodePreparation(await observeMachine(host), settings);

  const hosts = await host.files.readIfPresent(hostsFile);
  const before = hosts === undefined ? '127.0.0.1 localhost\n::1 localhost\n' : Buffer.from(hosts).toString();
  const after = hostsText(before, { name: preparation.nodeName, addresses: preparation.nodeAddresses });
  if (hosts === undefined || after !== before) await host.files.write(hostsFile, after);

  for (const { path, text } of preparation.files) {
    await host.files.makeFolder(dirname(path));
    // Only root starts what reads them.
    await host.files.write(path, text, { mode: 0o600 });
  }
  return preparation;
}

const hostsMarker = '# this machine, by firstlight';

interface OwnName {
  readonly name: string;
  readonly addresses: readonly string[];
}

/**
 * /etc/hosts with the machine's own name; every line that is not ours is kept. The kubelet is linked statically and
 * asks /etc/hosts, then DNS: a name that DNS does not answer would cost three waits of ten seconds at every start.
 */
export function hostsText(before: string, { name, addresses }: OwnName): string {
  const kept = before.split('\n').filter((line) => !line.endsWith(hostsMarker));
  while (kept.at(-1) === '') kept.pop();
  const short = name.split('.')[0] ?? name;
  const names = short === name ? name : `${name} ${short}`;
  return [...kept, ...addresses.map((address) => `${address} ${names} ${hostsMarker}`), ''].join('\n');
}
