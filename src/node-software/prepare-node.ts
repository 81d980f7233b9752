// Prepares this machine for its kubelet: observe, decide, write. Runs at every boot, because /run is empty then; the
// last file written is the one that lets the kubelet start, so an interrupted run only means that it runs again.
import { dirname } from 'node:path';
import { z } from 'zod';
import type { Host } from '../host/host.ts';
import { nodeSoftwareErrors } from './errors.ts';
import { hostsText } from './hosts-file.ts';
import { observeMachine } from './machine-facts.ts';
import { nodeSettingsFile, sysctlFile } from './machine-paths.ts';
import type { NodePreparation, NodeSettings } from './node-preparation.ts';
import { nodePreparation } from './node-preparation.ts';

const nodeSettings = z.object({
  apiServerUrl: z.url().exactOptional(),
  machineNetworks: z.array(z.union([z.cidrv4(), z.cidrv6()])),
  featureGates: z.record(z.string(), z.boolean()).exactOptional(),
});

export async function prepareNode(host: Host): Promise<NodePreparation> {
  const settings = await readSettings(host);
  const preparation = nodePreparation(await observeMachine(host), settings);

  const hosts = await host.files.readIfPresent('/etc/hosts');
  const before = hosts === undefined ? '127.0.0.1 localhost\n::1 localhost\n' : Buffer.from(hosts).toString();
  const after = hostsText(before, { name: preparation.nodeName, addresses: preparation.nodeAddresses });
  if (hosts === undefined || after !== before) await host.files.write('/etc/hosts', after);

  // On the first boot systemd-sysctl.service ran before Ignition had written our file.
  await host.processes.run('/usr/lib/systemd/systemd-sysctl', [sysctlFile], { timeoutMs: 10_000 });
  for (const { path, text } of preparation.files) {
    await host.files.makeFolder(dirname(path));
    await host.files.write(path, text);
  }
  return preparation;
}

async function readSettings(host: Host): Promise<NodeSettings> {
  const content = await host.files.readIfPresent(nodeSettingsFile);
  if (content === undefined) return { machineNetworks: [] };
  try {
    return nodeSettings.parse(JSON.parse(Buffer.from(content).toString()));
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw nodeSoftwareErrors.SETTINGS({ path: nodeSettingsFile, reason }, { cause: error });
  }
}
