// The parts of a master's config server. A file of its own because it is loaded only there: the client of the API takes
// more memory than the whole server of a bootstrap machine.
import { nodeSettingsFile } from '../contract/machine-paths.ts';
import { readNodeSettings } from '../contract/node-settings.ts';
import { certificateFile } from '../control-plane/control-plane-paths.ts';
import { connectByLeaf } from '../control-plane/machine-api-client.ts';
import type { Host } from '../host/host.ts';
import { connectKubernetes, type KubernetesClient } from '../kubernetes/client.ts';
import { ApiTokenIssuer, apiTokenLimit } from './api-token-issuer.ts';
import { openClusterSource } from './cluster-source.ts';
import { configServerErrors } from './errors.ts';
import { inPlaceService } from './in-place-service.ts';
import type { OpenedParts, Opening } from './serve.ts';

export async function openCluster(
  host: Host,
  { options, settings, access, log, parts }: Opening,
): Promise<OpenedParts> {
  const { apiServerUrl, controlPlane } = await readNodeSettings(host);
  const onProblem = (text: string): void => log({ level: 'warn', text, fields: {} });
  const client = parts.use(await connect(host, options.apiKubeconfigPath, apiServerUrl));
  const limit = Math.min(settings.outstandingTokens, apiTokenLimit);
  const issuer = parts.use(new ApiTokenIssuer(host, { client, limit, onTrouble: ({ message }) => onProblem(message) }));
  const needsPoolTokens = access === 'token';
  const source = parts.use(await openClusterSource(host, { ...options, client, needsPoolTokens, onProblem }));
  const inPlace = inPlaceService(host, { client, source, issuer, onProblem, parts, signal: options.signal });
  return { source, issuer, balancers: controlPlane?.apiVips ?? [], inPlace };
}

/** In its own name, unless a kubeconfig was given. */
async function connect(host: Host, path: string | undefined, url: string | undefined): Promise<KubernetesClient> {
  if (path !== undefined) return connectKubernetes(host, { path });
  const fail = (path: string, reason: string): Error => configServerErrors.NO_API_ACCESS({ path, reason });
  if (url === undefined) throw fail(nodeSettingsFile, 'does not say where the API is');
  const client = await connectByLeaf(host, 'config-server-client', url);
  if (client === undefined) throw fail(certificateFile('config-server-client'), 'is not there yet');
  return client;
}
