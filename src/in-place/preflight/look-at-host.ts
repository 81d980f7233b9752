// Looks at the host: its system, tools, disks, the attempt it may be in, and its Node. Reads only.
import { readOwnConfig } from '../../config-daemon/adopt-served-config.ts';
import { hostAttemptSchema, inPlaceFiles } from '../../contract/in-place.ts';
import { nodeConfigAnnotations } from '../../contract/machine-config-node.ts';
import { kubeletKubeconfig, osReleaseFile, releaseFile, runtimeUnitFolder } from '../../contract/machine-paths.ts';
import { FirstlightError } from '../../errors/firstlight-error.ts';
import type { Host } from '../../host/host.ts';
import { jsonIfValid } from '../../host/json-if-valid.ts';
import { connectKubernetes } from '../../kubernetes/client.ts';
import { lookedForTools, neededBytes } from './checks/host-checks.ts';
import type { HostFacts, NodeLook, OperatingSystem } from './facts.ts';

export async function lookAtHost(host: Host): Promise<HostFacts> {
  const { files, processes, environment } = host;
  const found = await Promise.all(lookedForTools.map(async (tool) => ((await processes.find(tool)) ? [tool] : [])));
  return {
    system: await lookAtSystem(host),
    isRoot: environment.uid === 0,
    hasSystemd: (await files.facts(runtimeUnitFolder)) !== undefined,
    tools: found.flat(),
    space: await lookAtSpace(host),
    isFips: (await textOf(host, '/proc/sys/crypto/fips_enabled')).trim() === '1',
    attempt: hostAttemptSchema.safeParse(jsonIfValid(await textOf(host, inPlaceFiles.state))).data,
    currentConfig: (await orUndefined(() => readOwnConfig(host)))?.spec,
  };
}

async function lookAtSystem(host: Host): Promise<OperatingSystem> {
  const text = await textOf(host, osReleaseFile);
  const field = (name: string): string => {
    const value = new RegExp(`^${name}=(.*)$`, 'm').exec(text)?.[1] ?? '';
    return value.trim().replace(/^(["'])(.*)\1$/, '$2');
  };
  return {
    id: field('ID') || 'unknown',
    version: field('VERSION_ID'),
    like: field('ID_LIKE').split(' ').filter(Boolean),
    isFirstlightImage: (await host.files.facts(releaseFile)) !== undefined,
  };
}

/** Only mounts of their own: a folder has the space of the disk that it is on. */
async function lookAtSpace(host: Host): Promise<HostFacts['space']> {
  // Of the first process: this one may have mounts of its own.
  const mounts = (await textOf(host, '/proc/1/mountinfo')).split('\n').map((line) => line.split(' ')[4] ?? '');
  const paths = Object.keys(neededBytes).filter((path) => path === '/' || mounts.includes(path));
  return Promise.all(paths.map(async (path) => ({ path, freeBytes: await host.files.freeBytes(path) })));
}

const nodeDeadlineMs = 10_000;

/** In the name of the kubelet, which may read its own Node. */
export async function lookAtNode(host: Host, name: string, signal: AbortSignal): Promise<NodeLook> {
  if ((await host.files.facts(kubeletKubeconfig)) === undefined) {
    return { status: 'unseen', reason: `there is no ${kubeletKubeconfig}` };
  }
  try {
    await using client = await connectKubernetes(host, { path: kubeletKubeconfig });
    const reference = { apiVersion: 'v1', kind: 'Node', name };
    const node = await client.find(reference, { signal, deadlineMs: nodeDeadlineMs });
    if (node === undefined) return { status: 'unseen', reason: `there is no node ${name}` };
    return {
      status: 'seen',
      isCordoned: (node['spec'] as { readonly unschedulable?: boolean } | undefined)?.unschedulable === true,
      configState: node.metadata.annotations?.[nodeConfigAnnotations.state],
    };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof FirstlightError) return { status: 'unseen', reason: error.message };
    throw error;
  }
}

async function textOf({ files }: Host, path: string): Promise<string> {
  const content = await orUndefined(() => files.readIfPresent(path));
  return content === undefined ? '' : Buffer.from(content).toString('utf8');
}

/** A wrecked machine is one that is looked at too: what cannot be read is not there. */
async function orUndefined<Value>(look: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof FirstlightError) return undefined;
    throw error;
  }
}
