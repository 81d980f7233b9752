// The parts of `firstlight machine-config serve --mode cluster`. Loaded only there: the client of the API takes more
// memory than the whole server of a bootstrap machine.
import type { Host } from '../host/host.ts';
import { connectKubernetes, type KubernetesClient } from '../kubernetes/client.ts';
import { apiTokenLimit, openApiTokenIssuer } from '../config-server/api-token-issuer.ts';
import { openClusterSource } from '../config-server/cluster-source.ts';
import { connectAs } from '../node/api-identity.ts';
import { agentErrors } from '../node/errors.ts';
import { nodeSettingsFile } from '../contract/machine-paths.ts';
import { readNodeSettings } from '../contract/node-settings.ts';
import { generatedBy } from './machine-config-input.ts';
import type { OpenedParts, Opening } from './machine-config-serve.ts';

export async function openCluster(host: Host, { given, settings, access, log, parts }: Opening): Promise<OpenedParts> {
  const { apiServerUrl, controlPlane } = await readNodeSettings(host);
  const warn = (text: string): void => log({ level: 'warn', text, fields: {} });
  const client = parts.use(await connect(host, given.apiKubeconfig, apiServerUrl));
  const limit = Math.min(settings.outstandingTokens, apiTokenLimit);
  const issuer = parts.use(openApiTokenIssuer(host, { client, limit, onTrouble: ({ message }) => warn(message) }));
  const source = parts.use(
    await openClusterSource(host, {
      client,
      pkiFolder: given.pki,
      proxyCredentialsPath: given.proxyCredentials,
      pullSecretPath: given.pullSecret,
      generatedBy,
      needsPoolTokens: access === 'token',
      onProblem: warn,
    }),
  );
  return { source, issuer, balancers: controlPlane?.apiVips ?? [] };
}

/** As the agent of this master, unless told otherwise. */
async function connect(host: Host, path: string | undefined, url: string | undefined): Promise<KubernetesClient> {
  if (path !== undefined) return connectKubernetes(host, { path });
  if (url === undefined) throw agentErrors.SETTINGS({ path: nodeSettingsFile, missing: 'where the API is' });
  return connectAs('master', host, url);
}
