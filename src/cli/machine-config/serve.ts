// `firstlight machine-config serve`: runs until it is asked to stop. Its log goes to stderr, one JSON line per answer.
import { z } from 'zod';
import type { CommandBody, CommandResult } from '../frame/verb.ts';
import { generatedBy } from './input.ts';

const portNumber = z.coerce.number().int().min(0).max(65_535);
const options = z.looseObject({
  mode: z.enum(['bootstrap', 'cluster']),
  apiKubeconfig: z.string().optional(),
  settings: z.string(),
  rendered: z.string(),
  poolTokens: z.string(),
  kubeconfig: z.string(),
  proxyCredentials: z.string(),
  pullSecret: z.string(),
  pki: z.string(),
  tokenLedger: z.string(),
  address: z.string(),
  port: portNumber,
  localPort: portNumber,
  balancer: z.array(z.union([z.ipv4(), z.ipv6()])).default([]),
  open: z.boolean().default(false),
  staticPod: z.string().min(1).optional(),
});

export const machineConfigServe: CommandBody = async (invocation) => {
  const { host, signal, terminal, global } = invocation;
  const given = options.parse(invocation.options);
  if (given.staticPod !== undefined) return printStaticPod(given.staticPod);
  const { serveConfigs } = await import('../../config-server/serve.ts');
  const { port } = await serveConfigs(host, {
    mode: given.mode,
    apiKubeconfigPath: given.apiKubeconfig,
    settingsPath: given.settings,
    renderedFolder: given.rendered,
    poolTokensPath: given.poolTokens,
    kubeconfigPath: given.kubeconfig,
    proxyCredentialsPath: given.proxyCredentials,
    pullSecretPath: given.pullSecret,
    pkiFolder: given.pki,
    tokenLedgerPath: given.tokenLedger,
    address: given.address,
    port: given.port,
    localPort: given.localPort,
    balancers: given.balancer,
    isOpen: given.open,
    generatedBy,
    log: { level: global.logLevel, write: terminal.err },
    signal,
  });
  return { data: { port }, text: '' };
};

async function printStaticPod(image: string): Promise<CommandResult> {
  const { machineConfigServerPod } = await import('../../config-server/static-pod.ts');
  const { toYaml } = await import('../../kubernetes/yaml.ts');
  const pod = machineConfigServerPod({ image });
  return { data: pod, text: toYaml(pod) };
}
