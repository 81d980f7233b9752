// Collects everything that controls look at: inside every machine by one command, from the API, from the asset folder.
// What cannot be seen is kept as such with the reason, because "not seen" must never look like "well".
import { z } from 'zod';
import { FirstlightError } from '../../errors/firstlight-error.ts';
import type { Host } from '../../host/host.ts';
import { jsonIfValid } from '../../host/json-if-valid.ts';
import type { KubernetesClient } from '../../kubernetes/client.ts';
import type { Machine } from '../../platform/machine.ts';
import type { PlacedCluster, Platform } from '../../platform/platform.ts';
import type { AuditedMachine, AuditFacts, KubeletSettings, Seen } from '../facts.ts';
import { type SecurityFacts, securityFactsSchema } from '../inside/security-facts.ts';
import { collectApiSecurity } from './api-facts.ts';
import { collectFolder } from './folder-facts.ts';

export interface CollectSecurityOptions {
  readonly host: Host;
  readonly platform: Platform;
  /** The platform's name of the cluster. */
  readonly name: string;
  /** Undefined where the platform has no machines of the cluster. */
  readonly placed: PlacedCluster | undefined;
  /** The asset folder. */
  readonly dir: string;
  readonly client: KubernetesClient;
  readonly signal: AbortSignal;
  readonly report: (work: string) => void;
}

const insideMs = 30_000;
const apiMs = 15_000;
/** As many machines are looked at together. */
const together = 8;

export async function collectSecurity(options: CollectSecurityOptions): Promise<AuditFacts> {
  const { host, dir, client, signal, report } = options;
  report('the API and the asset folder');
  const [api, folder, known] = await Promise.all([
    seen(signal, () => collectApiSecurity(client, signal)),
    collectFolder(host.files, dir),
    knownMachines(options),
  ]);
  const machines: AuditedMachine[] = [];
  for (let first = 0; first < known.length; first += together) {
    const some = known.slice(first, first + together);
    report(some.map(({ name }) => name).join(', '));
    machines.push(...(await Promise.all(some.map((machine) => lookAtMachine(options, machine)))));
  }
  return { machines, api, folder, now: host.clock.now() };
}

type KnownMachine = Pick<Machine, 'name' | 'role'>;

/** Those of the platform; where it has none, the nodes that the API knows. A bootstrap machine is on its way out. */
async function knownMachines(options: CollectSecurityOptions): Promise<readonly KnownMachine[]> {
  const { platform, name, placed, client, signal } = options;
  if (placed !== undefined) {
    return (await platform.listMachines(name)).filter(({ role }) => role !== 'bootstrap');
  }
  const nodes = await seen(signal, () =>
    client.list({ apiVersion: 'v1', kind: 'Node' }, {}, { signal, deadlineMs: apiMs }),
  );
  if (nodes.status === 'unseen') return [];
  return nodes.value.items.map(({ metadata }) => ({
    name: metadata.name,
    role: metadata.labels?.['node-role.kubernetes.io/control-plane'] === undefined ? 'worker' : 'master',
  }));
}

async function lookAtMachine(options: CollectSecurityOptions, { name, role }: KnownMachine): Promise<AuditedMachine> {
  const [security, kubelet] = await Promise.all([lookInside(options, name), askKubelet(options, name)]);
  return { name, role, security, kubelet };
}

async function lookInside(options: CollectSecurityOptions, machine: string): Promise<Seen<SecurityFacts>> {
  const { host, platform, name: cluster, placed, signal } = options;
  const { commandInside } = platform;
  if (placed === undefined || commandInside === undefined) {
    return { status: 'unseen', isPossible: false, reason: `platform ${platform.name} gives no way into a machine` };
  }
  return seen(signal, async () => {
    const command = ['firstlight', 'machine-security', '-o', 'json'];
    const [program, ...args] = await commandInside({ cluster, machine }, { command });
    const { code, stdout, stderr } = await host.processes.run(program, args, { timeoutMs: insideMs, signal });
    const read = code === 0 ? securityFactsSchema.safeParse(jsonIfValid(stdout)).data : undefined;
    if (read === undefined) throw new Unseen(stderr.trim().split('\n')[0] || 'it gave no answer that can be read');
    return read;
  });
}

const configz = z.object({ kubeletconfig: z.looseObject({}) });

async function askKubelet({ client, signal }: CollectSecurityOptions, node: string): Promise<Seen<KubeletSettings>> {
  return seen(signal, async () => {
    const path = `/api/v1/nodes/${encodeURIComponent(node)}/proxy/configz`;
    const { status, text } = await client.getRaw(path, { signal, deadlineMs: apiMs });
    if (status !== 200) throw new Unseen(`its kubelet does not say what it runs with (HTTP ${status})`);
    const read = configz.safeParse(jsonIfValid(text)).data;
    if (read === undefined) throw new Unseen('its kubelet says nothing that can be read');
    return read.kubeletconfig;
  });
}

/** A look that gave no answer. */
class Unseen extends Error {}

async function seen<T>(signal: AbortSignal, look: () => Promise<T>): Promise<Seen<T>> {
  try {
    return { status: 'seen', value: await look() };
  } catch (error) {
    signal.throwIfAborted();
    const isExpected = error instanceof FirstlightError || error instanceof Unseen || error instanceof z.ZodError;
    if (!isExpected) throw error;
    const reason = error instanceof z.ZodError ? 'the API says what is no known object' : error.message;
    return { status: 'unseen', isPossible: true, reason };
  }
}
