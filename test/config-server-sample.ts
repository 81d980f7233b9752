// A pool that can be served, for tests of the server.
import {
  type ConfigSource,
  namedAmongPools,
  parseKubeletKubeconfig,
  type ServedPool,
  type SourceState,
} from '../src/config-server/config-source.ts';
import type { IgnitionConfig } from '../src/ignition/config.ts';
import { kubeconfig } from '../src/kubernetes/kubeconfig.ts';
import type { MachineConfigSpec } from '../src/machine-config/machine-config.ts';
import { configSpec } from '../src/machine-config/machine-config.ts';

export function servedPool(
  pool: string,
  config: Partial<IgnitionConfig> = {},
  spec: Partial<MachineConfigSpec> = {},
): ServedPool {
  const options = {
    cluster: 'demo',
    server: 'https://api-int.demo.firstlight.test:6443',
    caPem: 'CA',
    user: 'kubelet',
  };
  return {
    pool,
    machineConfig: {
      metadata: { name: `rendered-${pool}-1`, labels: {}, annotations: {} },
      spec: { ...configSpec({ ignition: { version: '3.5.0' }, ...config }), ...spec },
    },
    kubeconfig: parseKubeletKubeconfig(kubeconfig(options))!,
    kubeletClientCaPem: 'KUBELET CLIENT CA\n',
  };
}

export function fixedSource(state: Partial<SourceState>): ConfigSource {
  const whole: SourceState = { pools: new Map(), poolTokens: {}, problems: [], ...state };
  const named = (pool: string, config: string): ServedPool | undefined => namedAmongPools(whole, pool, config);
  return { current: () => whole, named, [Symbol.asyncDispose]: async () => {} };
}
