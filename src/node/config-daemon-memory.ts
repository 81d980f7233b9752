// What the duty machine-config remembers between two runs: what it saw of its Node and of the disk, and its watches.
// All of it can be lost at any moment; what must not be lost is in the state file of the daemon.
import { dirname } from 'node:path';
import { readOwnConfig } from '../config-daemon/adopt-served-config.ts';
import { findRecord } from '../config-daemon/change-record.ts';
import { readDaemonState } from '../config-daemon/daemon-state.ts';
import type { DaemonView, NodeSight } from '../config-daemon/next-daemon-step.ts';
import { daemonFiles, nodeConfigAnnotations } from '../contract/machine-config-node.ts';
import { bootIdFile } from '../contract/machine-paths.ts';
import { bootIdOf, isReadyNode } from '../kubernetes/node-object.ts';
import { type KubernetesObject, objectVersion } from '../kubernetes/object.ts';
import type { Agent } from './agent-context.ts';
import { DriftWatch } from './drift-watch.ts';

const askAgainMs = 3_000;
const rebootAgainMs = 60_000;
/** A program that writes its file again and again is not answered faster than this. */
const rewriteAgainMs = 2_000;
/** A watch may miss a change. */
const driftAgainMs = 10 * 60_000;

/** The name of the config that the machine has, and the version of the file that it was read from. */
interface CurrentName {
  readonly version: string;
  readonly name: string | undefined;
}
const unread: CurrentName = { version: '', name: undefined };

export class ConfigDaemonMemory {
  /** Once it was a Ready node, its configuration is looked after also while it is not. */
  hasBeenNode = false;
  /** Completes "waits for …", while a step of a change waits. */
  waitsFor: string | undefined;
  /** Why the API did not answer last; undefined when it did. */
  apiTrouble: string | undefined;

  readonly #agent: Agent;
  readonly #watch: DriftWatch;
  #isStarted = false;
  #current = unread;
  #patched: KubernetesObject | undefined;
  #drift: readonly string[] | undefined;
  #driftAtMs = 0;
  #askAfterMs = 0;
  #rebootAfterMs = 0;
  #rewriteAfterMs = 0;
  #forceWatch: Disposable | undefined;

  constructor(agent: Agent) {
    this.#agent = agent;
    this.#watch = new DriftWatch(agent.host, () => {
      this.#drift = undefined;
      agent.doorbell.ring();
    });
    const end = (): void => {
      this.#watch[Symbol.dispose]();
      this.#watchForce(false);
    };
    agent.signal.addEventListener('abort', end, { once: true });
  }

  /** The newest state of the own Node: as it was seen, or as the last report left it. */
  get node(): KubernetesObject | undefined {
    const { cluster, node } = this.#agent;
    const seen = cluster.nodes?.find(({ metadata }) => metadata.name === node.name);
    if (seen === undefined || this.#patched === undefined) return seen;
    return objectVersion(seen) >= objectVersion(this.#patched) ? seen : this.#patched;
  }

  /** Ends what a daemon that was killed left of a change of files; once per start. */
  async start(): Promise<void> {
    const { host } = this.#agent;
    if (this.#isStarted) return;
    if ((await findRecord(host)) !== undefined) {
      const { recoverMachine } = await import('../config-daemon/perform-step.ts');
      await recoverMachine(host);
    }
    this.#isStarted = true;
  }

  /** Undefined on a machine that has no config. */
  async observe(): Promise<DaemonView | undefined> {
    const { host } = this.#agent;
    const current = await this.#currentName();
    if (current === undefined) return undefined;
    const annotations = this.node?.metadata.annotations ?? {};
    const [state, force, bootId] = await Promise.all([
      readDaemonState(host),
      host.files.facts(daemonFiles.force),
      host.files.readText(bootIdFile),
    ]);
    if (this.#nowMs() - this.#driftAtMs > driftAgainMs) this.#drift = undefined;
    this.#watchForce(state.failure !== undefined || (this.#drift ?? []).length > 0);
    return {
      current,
      desired: annotations[nodeConfigAnnotations.desired],
      lastAppliedDrain: annotations[nodeConfigAnnotations.lastAppliedDrain],
      node: sightOf(this.node),
      driftPolicy: annotations[nodeConfigAnnotations.driftPolicy] === 'Revert' ? 'Revert' : 'Report',
      state,
      drift: this.#drift,
      isForced: force !== undefined,
      bootId: bootId.trim(),
      pid: host.environment.pid,
      now: host.clock.now(),
    };
  }

  /** Where the machine is stuck, a person may make the force file. */
  #watchForce(isStuck: boolean): void {
    const { host, doorbell } = this.#agent;
    if (isStuck) {
      this.#forceWatch ??= host.files.watch(dirname(daemonFiles.force), () => doorbell.ring());
    } else {
      this.#forceWatch?.[Symbol.dispose]();
      this.#forceWatch = undefined;
    }
  }

  /** The file is large and seldom changes. */
  async #currentName(): Promise<string | undefined> {
    const { host } = this.#agent;
    const facts = await host.files.facts(daemonFiles.currentConfig);
    const version = facts === undefined ? '' : `${facts.identity} ${facts.modifiedAt.getTime()} ${facts.sizeBytes}`;
    if (version !== this.#current.version) this.#current = { version, name: (await readOwnConfig(host))?.name };
    return this.#current.name;
  }

  /** Compares the machine with its config; the folders are watched first, so that no later change is missed. */
  async findDrift(): Promise<readonly string[]> {
    const { host } = this.#agent;
    const { findDrift, foldersToWatch } = await import('../config-daemon/find-drift.ts');
    const applied = await readOwnConfig(host);
    if (applied === undefined) return [];
    this.#watch.follow(await foldersToWatch(host, applied.spec));
    const drift = (await findDrift(host, applied.spec)).map(({ message }) => message);
    this.#drift = drift;
    this.#driftAtMs = this.#nowMs();
    return drift;
  }

  /** A step changes what is on the disk: what was seen there is old. */
  forgetDisk(): void {
    this.#drift = undefined;
    this.#current = unread;
  }

  /** False for a moment after the API did not answer. */
  mayAskApi(): boolean {
    return this.#nowMs() >= this.#askAfterMs;
  }

  reported(node: KubernetesObject): void {
    this.#patched = node;
    this.apiTrouble = undefined;
  }

  apiFailed(reason: string): void {
    this.apiTrouble = reason;
    this.#askAfterMs = this.#nowMs() + askAgainMs;
  }

  /** True once, and again when the machine is still there a minute later. */
  mayAskForReboot(): boolean {
    if (this.#nowMs() < this.#rebootAfterMs) return false;
    this.#rebootAfterMs = this.#nowMs() + rebootAgainMs;
    return true;
  }

  mayRewrite(): boolean {
    if (this.#nowMs() < this.#rewriteAfterMs) return false;
    this.#rewriteAfterMs = this.#nowMs() + rewriteAgainMs;
    return true;
  }

  #nowMs(): number {
    return this.#agent.host.clock.monotonicMs();
  }
}

function sightOf(node: KubernetesObject | undefined): NodeSight | undefined {
  return node === undefined ? undefined : { isReady: isReadyNode(node), bootId: bootIdOf(node) };
}
