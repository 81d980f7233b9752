// `firstlight machine-config serve`: runs until it is stopped. Its log goes to stderr, one JSON line per answer.
import ipaddr from 'ipaddr.js';
import { configServerPaths } from '../../contract/machine-paths.ts';
import { configServerLocalPort, configServerPort } from '../../contract/ports.ts';
import {
  choiceOf,
  flag,
  option,
  optionWithDefault,
  portNumber,
  repeatableOption,
  text,
  type ValueKind,
} from '../frame/option.ts';
import { generatedBy } from '../frame/program.ts';
import { type CommandResult, defineVerb } from '../frame/verb.ts';

const ipAddress: ValueKind<string> = {
  parse: (word) => (ipaddr.IPv4.isValidFourPartDecimal(word) || ipaddr.IPv6.isValid(word) ? word : undefined),
  expected: 'an IP address',
};

export const machineConfigServeVerb = defineVerb({
  description:
    'Answers /config/POOL with the rendered configuration of a pool to machines that show its token, each with a token of its own for one use. As `bootstrap` it reads files, by default those of a bootstrap machine; as `cluster` it asks the API, as the agent of a master. Runs until it is stopped; its log is one line of JSON per answer, on stderr.',
  options: {
    mode: optionWithDefault(
      '--mode <mode>',
      'bootstrap: from files; cluster: from the API',
      choiceOf(['bootstrap', 'cluster']),
      'bootstrap',
    ),
    apiKubeconfig: option(
      '--api-kubeconfig <file>',
      "for cluster: whom to ask and as whom, instead of as this master's agent",
      text,
    ),
    rendered: optionWithDefault(
      '--rendered <folder>',
      'rendered configurations',
      text,
      configServerPaths.renderedFolder,
    ),
    poolTokens: optionWithDefault(
      '--pool-tokens <file>',
      'digests of the pool tokens',
      text,
      configServerPaths.poolTokens,
    ),
    kubeconfig: optionWithDefault(
      '--kubeconfig <file>',
      'kubeconfig without a credential',
      text,
      configServerPaths.kubeconfig,
    ),
    proxyCredentials: optionWithDefault(
      '--proxy-credentials <file>',
      'what machines need to pass the proxy, where it asks who they are',
      text,
      configServerPaths.proxyCredentials,
    ),
    pullSecret: optionWithDefault(
      '--pull-secret <file>',
      'credentials for registries, which machines get where the file is there',
      text,
      configServerPaths.pullSecret,
    ),
    pki: optionWithDefault(
      '--pki <folder>',
      "the server's pair and the keys for masters",
      text,
      configServerPaths.pkiFolder,
    ),
    tokenLedger: optionWithDefault(
      '--token-ledger <file>',
      'where served tokens are recorded',
      text,
      configServerPaths.tokenLedger,
    ),
    inventory: optionWithDefault(
      '--inventory <file>',
      'for bootstrap: the machines that are expected; keys are for the masters among them',
      text,
      configServerPaths.inventory,
    ),
    settings: optionWithDefault(
      '--settings <file>',
      'who is let in and which load balancers are believed',
      text,
      configServerPaths.settings,
    ),
    address: optionWithDefault('--address <address>', 'listen here', text, '::'),
    port: optionWithDefault('--port <port>', 'listen here', portNumber, configServerPort),
    localPort: optionWithDefault(
      '--local-port <port>',
      '/metrics and /healthz on loopback',
      portNumber,
      configServerLocalPort,
    ),
    balancer: repeatableOption('--balancer <address>', 'a load balancer that sends PROXY v2 headers', ipAddress),
    open: flag('--open', 'serve whoever asks, and give keys to nobody; for machines that know no token'),
    staticPod: option(
      '--static-pod <image>',
      'print a static pod that serves on a bootstrap machine from this image, and end',
      text,
    ),
  },
  examples: [
    'firstlight machine-config serve',
    'firstlight machine-config serve --rendered rendered --pki tls --port 0',
  ],
  run: async ({ host, signal, terminal, global, options }) => {
    if (options.staticPod !== undefined) return staticPod(options.staticPod);
    const { serveConfigs } = await import('../../config-server/serve.ts');
    const { port } = await serveConfigs(host, {
      mode: options.mode,
      apiKubeconfigPath: options.apiKubeconfig,
      settingsPath: options.settings,
      renderedFolder: options.rendered,
      poolTokensPath: options.poolTokens,
      kubeconfigPath: options.kubeconfig,
      proxyCredentialsPath: options.proxyCredentials,
      pullSecretPath: options.pullSecret,
      pkiFolder: options.pki,
      tokenLedgerPath: options.tokenLedger,
      inventoryPath: options.inventory,
      address: options.address,
      port: options.port,
      localPort: options.localPort,
      balancers: options.balancer,
      isOpen: options.open,
      generatedBy,
      log: { level: global.logLevel, write: terminal.err },
      signal,
    });
    return { data: { port }, text: '' };
  },
});

async function staticPod(image: string): Promise<CommandResult> {
  const { machineConfigServerPod } = await import('../../config-server/static-pod.ts');
  const { toYaml } = await import('../../kubernetes/yaml.ts');
  const pod = machineConfigServerPod({ image });
  return { data: pod, text: toYaml(pod) };
}
