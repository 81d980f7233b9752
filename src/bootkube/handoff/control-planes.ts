// Before this machine stops serving, enough masters must serve the API and the config server. The requests go directly
// to each master: the load balancer could send them to this machine.
import { handoffMark } from '../../contract/bootstrap-paths.ts';
import { type Missing, missingText, waitingFor } from '../../contract/missing.ts';
import { apiPort, configServerPort, httpsUrl } from '../../contract/ports.ts';
import type { HttpClient } from '../../host/network.ts';
import { askReadiness, type ReadinessProbe } from '../../kubernetes/readiness.ts';
import type { Stage } from '../../workflow/stage.ts';
import { StandingQuestions } from '../../workflow/standing-questions.ts';
import { type Observation, waitUntil } from '../../workflow/wait.ts';
import type { BootkubeContext } from '../context.ts';
import { apiProbe, probeTimeoutMs, readApiCa } from '../readiness-probes.ts';

const deadlineMs = 30 * 60_000;

export const controlPlanes: Stage<BootkubeContext> = {
  name: 'control-planes',
  why: 'Waits until two masters, or the only one, serve the API and the config server: only then may this machine stop serving.',
  observe: async ({ host }) =>
    (await host.files.facts(handoffMark)) === undefined
      ? { status: 'needed', because: 'who serves is looked at anew each time' }
      : { status: 'done' },
  run: async (context, tools) => {
    const { clock } = context.host;
    // Keep the connections: a TLS handshake per request would cost the masters processor time that they need to start.
    using network = context.host.network.keepConnections();
    const questions: Questions = new StandingQuestions({ clock, freshMs: 100, patienceMs: 300 });
    const ready = await waitUntil({
      clock,
      what: 'that enough masters serve',
      deadlineMs,
      everyMs: 200,
      probe: () => enoughServe(context, { questions, network }),
      signal: tools.signal,
      onMissing: (missing) => tools.report({ missing }),
    });
    return { note: `${ready.join(', ')} serve` };
  },
};

type Questions = StandingQuestions<readonly Missing[]>;

interface Asking {
  readonly questions: Questions;
  readonly network: HttpClient;
}

async function enoughServe(context: BootkubeContext, asking: Asking): Promise<Observation<readonly string[]>> {
  const masters = context.inventory.machines.filter(({ role }) => role === 'master');
  const needed = Math.min(2, masters.length);
  const seen = await asking.questions.look(
    new Map(masters.map(({ name, addresses }) => [name, () => missingOf(context, asking, addresses[0] ?? '')])),
  );
  const ready = masters.map(({ name }) => name).filter((name) => seen.get(name)?.length === 0);
  if (ready.length >= needed) return { status: 'ready', value: ready };
  const missing = masters.flatMap(({ name }) =>
    (seen.get(name) ?? [waitingFor('no answer yet')]).map((each) => ofMachine(name, each)),
  );
  return { status: 'waiting', missing };
}

/** `master-1: API answers 500`. */
function ofMachine(name: string, missing: Missing): Missing {
  return waitingFor(`${name}:`, missingText(missing), { key: `${name} ${missing.key}`, machines: [name] });
}

async function missingOf(
  { host, folders, names }: BootkubeContext,
  asking: Asking,
  address: string,
): Promise<readonly Missing[]> {
  const apiCa = await readApiCa(host);
  const rootCa = await host.files.readText(`${folders.assets}/tls/root-ca.crt`);
  const api: ReadinessProbe = { ...apiProbe(httpsUrl(address, apiPort), apiCa), name: 'API' };
  // The config server's certificate names the load balancer, so only the connection goes to the machine.
  const config: ReadinessProbe = {
    name: 'config server',
    request: {
      url: `${names.configServerUrl}/healthz`,
      ca: rootCa,
      connectTo: { host: address, port: configServerPort },
      timeoutMs: probeTimeoutMs,
    },
  };
  const found = await Promise.all([askReadiness(asking, api), askReadiness(asking, config)]);
  return found.flatMap((each) => (each.status === 'waiting' ? each.missing : []));
}

/** The URL of a master that serves the API. Only if none does: the load balancer, which could choose this machine. */
export async function servingMasterUrl({ host, inventory, names }: BootkubeContext): Promise<string> {
  const ca = await readApiCa(host);
  for (const { role, addresses } of inventory.machines) {
    if (role !== 'master') continue;
    const url = httpsUrl(addresses[0] ?? '', apiPort);
    if ((await askReadiness(host, apiProbe(url, ca))).status === 'ready') return url;
  }
  return names.apiInternalUrl;
}
