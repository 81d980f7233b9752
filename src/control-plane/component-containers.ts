// The running containers of a component of the control plane on this machine, found and stopped through crictl.
// Whoever stops one sees to it that no kubelet runs, which would start it again.
import { systemNamespace } from '../contract/cluster-objects.ts';
import { containerdSocket, programs } from '../contract/machine-paths.ts';
import type { Host } from '../host/host.ts';
import type { ControlPlaneComponent } from './component-holdings.ts';
import { controlPlaneErrors } from './errors.ts';

interface ContainerCall {
  /** How long crictl may take. */
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

/** Their ids; none where the component does not run. Not those of a user's pod whose container has the same name. */
export async function runningContainers(
  host: Host,
  component: ControlPlaneComponent,
  call: ContainerCall,
): Promise<readonly string[]> {
  const labels = [`io.kubernetes.pod.namespace=${systemNamespace}`, `io.kubernetes.container.name=${component}`];
  const args = ['--state=Running', '--quiet', ...labels.map((label) => `--label=${label}`)];
  const ids = await crictl(host, ['ps', ...args], call);
  return ids.split('\n').filter((id) => id !== '');
}

/** The container is asked to end, and killed when it has not after `graceSeconds`. Returns when it has ended. */
export async function stopContainer(
  host: Host,
  id: string,
  { graceSeconds, ...call }: ContainerCall & { readonly graceSeconds: number },
): Promise<void> {
  await crictl(host, ['stop', `--timeout=${graceSeconds}`, id], call);
}

async function crictl(host: Host, words: readonly string[], { limitMs, signal }: ContainerCall): Promise<string> {
  // By itself crictl gives containerd two seconds to answer, too few for a busy machine; a stop adds its grace to them.
  const common = [`--runtime-endpoint=unix://${containerdSocket}`, `--timeout=${limitMs}ms`];
  const result = await host.processes.run(programs.crictl, [...common, ...words], { timeoutMs: limitMs, signal });
  if (result.code === 0) return result.stdout;
  const reason = result.timedOut ? `no answer within ${limitMs / 1000} s` : result.stderr.trim();
  throw controlPlaneErrors.CRICTL({ verb: words[0] ?? '', reason });
}
