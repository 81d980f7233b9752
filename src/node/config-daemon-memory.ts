// What the duty machine-config remembers between two runs: what it saw of its Node and of the disk, its watches and its
// lock. All of it can be lost at any moment; what must not be lost is in the state file of the daemon.
import { readOwnConfig } from '../config-daemon/adopt-served-config.ts';
import { isOwnStateFile, readDaemonState } from '../config-daemon/daemon-state.ts';
import type { DaemonView } from '../config-daemon/next-daemon-step.ts';
import { daemonFiles, nodeConfigAnnotations } from '../contract/machine-config-node.ts';
import type { FolderLock } from '../host/files.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import type { Agent } from './agent-context.ts';
import { DriftWatch } from './drift-watch.ts';

const reportAgainMs = 3_000;
const rebootAgainMs = 60_000;
/** A program that writes its file again and again is not answered faster than this. */
const rewriteAgainMs = 2_000;
/** A watch may miss a change. */
const driftAgainMs = 10 * 60_000;
const bootIdFile = '/proc/sys/kernel/random/boot_id';

export class ConfigDaemonMemory {
  /** Once it was a Ready node, its configuration is looked after also while it is not. */
  hasBeenNode = false;
  /** Completes "waits for …", while a step of a change waits. */
  waitsFor: string | undefined;
  /** Why the last report failed; undefined when it was written. */
  reportTrouble: string | undefined;

  readonly #agent: Agent;
  readonly #watch: DriftWatch;
  #isStarted = false;
  #current: { readonly version: string; readonly name: string | undefined } = { version: '', name: undefined };
  #patched: KubernetesObject | undefined;
  #drift: readonly string[] | undefined;
  #driftAtMs = 0;
  #reportAfterMs = 0;
  #rebootAfterMs = 0;
  #rewriteAfterMs = 0;
  #lock: FolderLock | undefined;

  constructor(agent: Agent) {
    this.#agent = agent;
    this.#watch = new DriftWatch(agent.host, () => {
      this.#drift = undefined;
      agent.doorbell.ring();
    });
    agent.signal.addEventListener('abort', () => this.#watch[Symbol.dispose](), { once: true });
  }

  /** The newest state of the own Node: as it was seen, or as the last report left it. */
  get node(): KubernetesObject | undefined {
    const { cluster, node } = this.#agent;
    const seen = cluster.nodes?.find(({ metadata }) => metadata.name === node.name);
    if (seen === undefined || this.#patched === undefined) return seen;
    return versionOf(seen) >= versionOf(this.#patched) ? seen : this.#patched;
  }

  /** Ends what a daemon that was killed left of a change of files. Once per start. */
  async start(): Promise<void> {
    const { host } = this.#agent;
    if (this.#isStarted) return;
    const names = (await host.files.list(daemonFiles.stateFolder)) ?? [];
    // A journal of files is left only by a daemon that was cut off.
    if (names.some((name) => !isOwnStateFile(name)) && (await this.lock())) {
      const { recoverMachine } = await import('../config-daemon/perform-step.ts');
      await recoverMachine(host);
      await this.unlock();
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
    return {
      current,
      desired: annotations[nodeConfigAnnotations.desired],
      lastAppliedDrain: annotations[nodeConfigAnnotations.lastAppliedDrain],
      driftPolicy: annotations[nodeConfigAnnotations.driftPolicy] === 'Revert' ? 'Revert' : 'Report',
      state,
      drift: this.#drift,
      isForced: force !== undefined,
      bootId: bootId.trim(),
      pid: host.environment.pid,
      now: host.clock.now(),
    };
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

  forgetDrift(): void {
    this.#drift = undefined;
  }

  mayReport(): boolean {
    return this.#nowMs() >= this.#reportAfterMs;
  }

  reported(node: KubernetesObject): void {
    this.#patched = node;
    this.reportTrouble = undefined;
  }

  reportFailed(reason: string): void {
    this.reportTrouble = reason;
    this.#reportAfterMs = this.#nowMs() + reportAgainMs;
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

  /** False while another program changes the configuration of this machine. */
  async lock(): Promise<boolean> {
    this.#lock ??= await this.#agent.host.files.lockFile(daemonFiles.lock);
    return this.#lock !== undefined;
  }

  async unlock(): Promise<void> {
    await this.#lock?.[Symbol.asyncDispose]();
    this.#lock = undefined;
  }

  #nowMs(): number {
    return this.#agent.host.clock.monotonicMs();
  }
}

/** Versions of one object are numbers that grow (Kubernetes 1.35). */
function versionOf({ metadata }: KubernetesObject): bigint {
  return BigInt(metadata.resourceVersion ?? '0');
}
