// Collects the facts of one round of preflight. What hangs together is asked once: the payload says which images and
// which API come after it. Nothing on the host is changed.
import { type AttemptSecret, type AttemptSettings, attemptProxyVariables } from '../../contract/in-place.ts';
import { bootstrapKubeconfig } from '../../contract/machine-paths.ts';
import { FirstlightError } from '../../errors/firstlight-error.ts';
import type { Host } from '../../host/host.ts';
import type { HttpRequest } from '../../host/network.ts';
import { ignitionRequest } from '../ignition-request.ts';
import { isContentsOf } from '../payload/payload-manifest.ts';
import { payloadExpectation, payloadRequest } from '../payload/payload-request.ts';
import { verifyPayload } from '../payload/verify-payload.ts';
import { packageManagerOf } from './checks/host-checks.ts';
import { downloaded } from './checks/payload-checks.ts';
import type { ArchiveFacts, HostFacts, PayloadFacts, PreflightFacts } from './facts.ts';
import { ignitionContent } from './ignition-content.ts';
import { lookAtHost, lookAtNode } from './look-at-host.ts';
import { lookAtRegistries } from './look-at-registry.ts';
import { lookAtRepositories } from './look-at-repositories.ts';
import { lookAtApi, lookAtReports } from './look-at-services.ts';
import { reached } from './reached.ts';

export async function collectPreflightFacts(
  host: Host,
  settings: AttemptSettings,
  signal: AbortSignal,
): Promise<PreflightFacts> {
  const { node, attemptId, isAdoption, grant } = settings;
  const { secret } = grant;
  const [hostFacts, nodeObject, reports, payload] = await Promise.all([
    lookAtHost(host),
    isAdoption ? undefined : lookAtNode(host, node, signal),
    lookAtReports(host, settings, signal),
    lookAtPayload(host, settings, signal),
  ]);
  const known = { node, attemptId, isAdoption, secret, now: host.clock.now(), host: hostFacts, nodeObject, payload };
  const content = contentOf(secret.os, payload);
  // Nobody needs the image whose program came with the attempt: a machine that is no node yet, or a node whose kubelet
  // is dead, may have no containerd to ask for it.
  const needed = imagesIn(content, hostFacts).filter((image) => image !== settings.programImage);
  const images = [secret['registry-probe'], ...needed].filter((image) => image !== undefined);
  const archive = await lookAtArchive(known);
  const kubeconfig = content?.config.kubeconfig ?? (archive?.status === 'verified' ? archive.kubeconfig : undefined);
  const [registries, brokenRepositories, api] = await Promise.all([
    lookAtRegistries({ host, proxy: attemptProxyVariables(secret.proxy), signal }, [...new Set(images)]),
    repositoriesOf(host, { os: secret.os, facts: hostFacts }, signal),
    kubeconfig === undefined ? undefined : lookAtApi(host, kubeconfig, signal),
  ]);
  return { ...known, archive, registries, brokenRepositories, reports, api };
}

const downloadMs = 30_000;

async function lookAtPayload(
  host: Host,
  { grant }: AttemptSettings,
  signal: AbortSignal,
): Promise<PayloadFacts | undefined> {
  const request = requestFor(grant.secret);
  if (request === undefined) return undefined;
  const { hostname, port, protocol, origin, pathname } = new URL(request.url);
  const answer = await reached(async () => {
    const { status, headers, body } = await host.network.request({ timeoutMs: downloadMs, ...request, signal });
    return { code: status, date: headers['date'], body };
  });
  return { url: origin + pathname, host: hostname, port: port || (protocol === 'https:' ? '443' : '80'), answer };
}

function requestFor(secret: AttemptSecret): HttpRequest | undefined {
  const isArchive = secret.os === 'rhel';
  if (!URL.canParse(secret[isArchive ? 'bootstrap-url' : 'ignition-url'] ?? '')) return undefined;
  return isArchive ? payloadRequest(secret) : ignitionRequest(secret);
}

async function lookAtArchive(
  facts: Pick<PreflightFacts, 'secret' | 'payload' | 'now'>,
): Promise<ArchiveFacts | undefined> {
  const answer = facts.secret.os === 'rhel' ? downloaded(facts) : undefined;
  if (answer === undefined) return undefined;
  try {
    const verdict = await verifyPayload(answer.body, payloadExpectation(facts.secret, facts.now));
    if (verdict.status === 'refused') return verdict;
    const { workerId, clusterId, region } = verdict.manifest;
    const kubeconfig = [...verdict.files].find(([path]) => isContentsOf(path, bootstrapKubeconfig))?.[1];
    return {
      status: 'verified',
      ids: [workerId, clusterId, region],
      kubeconfig: kubeconfig === undefined ? undefined : Buffer.from(kubeconfig).toString('utf8'),
    };
  } catch (error) {
    // The authority of the Secret is none.
    if (error instanceof FirstlightError) return { status: 'refused', check: 'signature', reason: error.message };
    throw error;
  }
}

function contentOf(os: string | undefined, payload: PayloadFacts | undefined) {
  const answer = os === 'rhel' ? undefined : downloaded({ payload });
  const read = answer === undefined ? undefined : ignitionContent(answer.body);
  return read?.status === 'read' ? read : undefined;
}

/** The image of the daemon, and that of the operating system where the host is one that is replaced as a whole. */
function imagesIn(content: ReturnType<typeof contentOf>, { system }: HostFacts): readonly (string | undefined)[] {
  const osImage = content?.machineConfig.spec.osImageURL ?? '';
  return [content?.config.release?.daemonImage, ...(system.id === 'rhcos' && osImage !== '' ? [osImage] : [])];
}

async function repositoriesOf(
  host: Host,
  { os, facts }: { readonly os: string | undefined; readonly facts: HostFacts },
  signal: AbortSignal,
): Promise<PreflightFacts['brokenRepositories']> {
  const manager = os === 'rhel' ? packageManagerOf(facts.system) : undefined;
  const program = manager === 'apt' ? 'apt-get' : manager;
  // Without the program there is nothing to ask: P04 names it.
  if (manager === undefined || program === undefined || !facts.tools.includes(program)) return undefined;
  return lookAtRepositories(host, manager, signal);
}
