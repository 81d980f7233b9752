// A machine in memory whose configuration the duty machine-config keeps: its disk and systemd, the API with its Node and
// its MachineConfigs, and a controller that answers drains. A reboot or a crash starts another agent on the same disk.
import { fakeMachine } from '../../src/config-daemon/fake-machine.ts';
import { nodeConfigAnnotations as annotation, daemonFiles } from '../../src/contract/machine-config-node.ts';
import { bootIdFile, unitFolder } from '../../src/contract/machine-paths.ts';
import { Crash, type FakeDisk } from '../../src/host/fake/fake-files.ts';
import type { FakeHost } from '../../src/host/fake/fake-host.ts';
import type { RunResult } from '../../src/host/processes.ts';
import type { IgnitionConfig } from '../../src/ignition/config.ts';
import type { KubernetesClient } from '../../src/kubernetes/client.ts';
import { kubernetesErrors } from '../../src/kubernetes/errors.ts';
import type { KubernetesObject, ObjectReference } from '../../src/kubernetes/object.ts';
import { machineConfigDuty } from '../../src/node/duties/machine-config.ts';
import type { DutyOutcome } from '../../src/node/duty.ts';
import { type FakeAgent, fakeAgent } from './agent-fixture.ts';

const ended = (stdout = '', code = 0, stderr = ''): RunResult => {
  return { code, stdout, stderr, signal: undefined, timedOut: false };
};

export function renderedConfig(name: string, config: Omit<IgnitionConfig, 'ignition'>): KubernetesObject {
  return {
    apiVersion: 'machineconfiguration.openshift.io/v1',
    kind: 'MachineConfig',
    metadata: { name },
    spec: { config: { ignition: { version: '3.5.0' }, ...config } },
  };
}

export class ConfigMachine {
  readonly configs = new Map<string, KubernetesObject>();
  annotations: Record<string, string> = {};
  isApiUp = true;
  /** The controller drains when it is asked to. */
  isDraining = true;
  /** Units that systemd cannot start. */
  readonly broken = new Set<string>();
  /** What systemd was asked to do, apart from questions and links. */
  readonly actions: string[] = [];
  reboots = 0;
  agent: FakeAgent;
  readonly #machine: FakeHost;
  #pid = 1;
  #version = 1;

  private constructor(machine: FakeHost) {
    this.#machine = machine;
    this.agent = this.#newAgent();
  }

  /** As Ignition leaves it, with the files of this config in place. */
  static async boot(served: KubernetesObject): Promise<ConfigMachine> {
    const host = await fakeMachine();
    for (const folder of ['/run', '/proc', '/etc/machine-config-daemon', '/etc/systemd/system-preset']) {
      await host.files.makeFolder(folder);
    }
    await host.files.write('/proc/uptime', '100.00 1.00\n');
    await host.files.write(daemonFiles.servedMachineConfig, JSON.stringify(completed(served)));
    const { name } = served.metadata;
    const seeds = { [annotation.current]: name, [annotation.desired]: name, [annotation.firstPivot]: name };
    await host.files.write(daemonFiles.nodeAnnotations, JSON.stringify(seeds));
    await host.files.write(daemonFiles.encapsulated, '{}');
    const machine = new ConfigMachine(host);
    machine.configs.set(name, served);
    return machine;
  }

  get disk(): FakeDisk {
    return this.#machine.disk;
  }

  get files(): FakeHost['files'] {
    return this.agent.host.files;
  }

  want(config: KubernetesObject): void {
    this.configs.set(config.metadata.name, config);
    this.annotate(annotation.desired, config.metadata.name);
  }

  annotate(name: string, value: string): void {
    this.annotations = { ...this.annotations, [name]: value };
    this.#version += 1;
  }

  /** Another process of the agent, on the same disk. */
  restartAgent(): void {
    this.#pid += 1;
    this.agent = this.#newAgent();
  }

  /** Runs the duty until nothing is left to do, or until it only waits for others. */
  async settle(): Promise<DutyOutcome> {
    let last: DutyOutcome = { status: 'waiting', missing: [] };
    for (let run = 0; run < 200 && last.status !== 'settled'; run += 1) last = (await this.step()) ?? last;
    return last;
  }

  /** Undefined when the agent was killed. */
  async step(): Promise<DutyOutcome | undefined> {
    const { agent } = this;
    if (this.isApiUp) agent.cluster.put({ nodes: [this.#node()] });
    try {
      const outcome = await machineConfigDuty.run(agent);
      if (outcome.status === 'waiting') agent.host.clock.advance(1_000);
      this.#answerDrain();
      return outcome;
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      delete this.disk.crashAt;
      this.restartAgent();
      return undefined;
    }
  }

  #answerDrain(): void {
    const asked = this.annotations[annotation.desiredDrain];
    if (!this.isDraining || asked === undefined || this.annotations[annotation.lastAppliedDrain] === asked) return;
    this.annotate(annotation.lastAppliedDrain, asked);
  }

  #node(): KubernetesObject {
    return {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'worker-0', annotations: this.annotations, resourceVersion: String(this.#version) },
      status: { conditions: [{ type: 'Ready', status: 'True' }], nodeInfo: { bootID: `boot-${this.reboots + 1}` } },
    };
  }

  #newAgent(): FakeAgent {
    const { disk, processes } = this.#machine;
    const agent = fakeAgent({
      role: 'worker',
      disk,
      environment: { pid: this.#pid },
      processes: {
        run: async (program, args, options) => this.#systemd(args) ?? processes.run(program, args, options),
      },
    });
    return Object.assign(agent, { api: async () => this.#client() });
  }

  /** Undefined for what the fake machine does by itself. */
  #systemd(args: readonly string[]): RunResult | Promise<RunResult> | undefined {
    const [verb, ...names] = args.filter((arg) => !arg.startsWith('--'));
    if (verb === 'show' && args.includes('--value')) return ended('loaded\n');
    if (verb === 'show') return this.#show(names);
    if (verb === 'reboot') return this.#reboot();
    if (verb !== 'restart' && verb !== 'reload-or-restart') return undefined;
    const [unit = ''] = names;
    this.actions.push(`${verb} ${unit}`);
    if (unit === 'firstlight-agent.service') this.restartAgent();
    return this.broken.has(unit) ? ended('', 1, `Job for ${unit} failed.`) : ended();
  }

  async #show(units: readonly string[]): Promise<RunResult> {
    const shown = units.map(async (unit) => {
      const isThere = (await this.files.facts(`${unitFolder}/${unit}`)) !== undefined;
      const state = isThere && this.broken.has(unit) ? 'failed' : 'active';
      return `Id=${unit}\nLoadState=loaded\nActiveState=${state}\nSubState=${state}\nType=notify\n`;
    });
    return ended((await Promise.all(shown)).join('\n'));
  }

  async #reboot(): Promise<RunResult> {
    this.reboots += 1;
    await this.#machine.files.write(bootIdFile, `boot-${this.reboots + 1}\n`);
    this.restartAgent();
    return ended();
  }

  #client(): KubernetesClient {
    const client: Partial<KubernetesClient> = {
      find: async <T extends KubernetesObject>({ name }: ObjectReference) => {
        this.#mustAnswer();
        return this.configs.get(name) as T | undefined;
      },
      mergePatch: async <T extends KubernetesObject>(_: ObjectReference, patch: object) => {
        this.#mustAnswer();
        const { annotations } = (patch as { metadata: { annotations: Record<string, string | null> } }).metadata;
        const merged = Object.entries({ ...this.annotations, ...annotations }).filter(([, value]) => value !== null);
        this.annotations = Object.fromEntries(merged) as Record<string, string>;
        this.#version += 1;
        return this.#node() as T;
      },
    };
    return client as KubernetesClient;
  }

  #mustAnswer(): void {
    if (this.isApiUp) return;
    throw kubernetesErrors.UNREACHABLE({ what: 'ask', server: 'api', reason: 'nobody answers', failure: 'refused' });
  }
}

/** As the config server serves it: with every field of the spec. */
function completed(config: KubernetesObject): object {
  const others = { kernelArguments: [], extensions: [], fips: false, kernelType: '', osImageURL: '' };
  return { ...config, spec: { ...others, baseOSExtensionsContainerImage: '', ...(config['spec'] as object) } };
}
