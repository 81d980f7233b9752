// One cluster that is made under fire: the command (run again whenever it was killed), the load on its API, the gate before
// its etcd, and the questions that are asked at the end of every such run.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CliOutcome, cli, list, startCli, temporaryFolder } from '../machine-lab.ts';
import { type EtcdGate, openEtcdGate } from './etcd-gate.ts';
import { type Load, type LoadReport, startLoad } from './load-report.ts';
import { memberHistory } from './member-history.ts';
import { infraIdOf, isBefore, latestMoment } from './moments.ts';

export const masters = ['master-0', 'master-1', 'master-2'];
export const everybody = [...masters, 'worker-0'];
const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

export interface FireOptions {
  readonly name: string;
  /** Added to the install-config. */
  readonly installConfig?: string;
  readonly load?: { readonly writesPerSecond: number; readonly watches: number };
}

export interface ClusterEnd {
  readonly ready: readonly string[];
  readonly machines: readonly string[];
  readonly voters: readonly string[];
  readonly lastVoterCount: number;
  /** Peer URLs under which more than one member was ever added to etcd. */
  readonly addedTwice: readonly string[];
  /** The bootstrap member, and nobody else. */
  readonly removedMembers: number;
  readonly changedKeys: readonly string[];
}

export const goodEnd: ClusterEnd = {
  ready: everybody,
  machines: everybody,
  voters: masters,
  lastVoterCount: 3,
  addedTwice: [],
  removedMembers: 1,
  changedKeys: [],
};

export class FireCluster {
  readonly folder = temporaryFolder();
  readonly dir = join(this.folder, 'cluster');
  readonly load: Load | undefined;
  /** How often the command was started. */
  starts = 0;
  gate: EtcdGate | undefined;
  #running: ReturnType<typeof startCli> | undefined;
  #isKilled = false;
  #outcome: CliOutcome | undefined;
  #keys = new Map<string, string>();

  constructor({ name, installConfig = '', load }: FireOptions) {
    mkdirSync(this.dir);
    writeFileSync(join(this.dir, 'install-config.yaml'), `metadata:\n  name: ${name}\n${installConfig}`);
    const kubeconfig = join(this.dir, 'auth/kubeconfig');
    if (load !== undefined) this.load = startLoad({ kubeconfig, ...load });
    this.#start();
  }

  get infraId(): string {
    const id = infraIdOf(this.dir);
    if (id === undefined) throw new Error('the cluster has no name yet');
    return id;
  }

  #start(): void {
    this.starts += 1;
    const running = startCli(['create', 'cluster', '--dir', this.dir, '-o', 'json']);
    this.#running = running;
    void running.outcome.then((outcome) => {
      // Killed by us: the same command again, at once.
      if (this.#isKilled) {
        this.#isKilled = false;
        this.#start();
      } else this.#outcome = outcome;
    });
  }

  /** Kills the command; it is started again. One that has come to its end is started once more and killed in that. */
  async killCommand(): Promise<void> {
    this.rememberKeys();
    if (this.#outcome !== undefined) {
      this.mustHaveSucceeded();
      this.#outcome = undefined;
      this.#start();
      await pause(150);
    }
    this.#isKilled = true;
    this.#running?.child.kill('SIGKILL');
  }

  /** Every key and certificate that is in the folder now must be the same at the end. */
  rememberKeys(): void {
    for (const [path, digest] of keyDigests(this.dir)) if (!this.#keys.has(path)) this.#keys.set(path, digest);
  }

  mustHaveSucceeded(): void {
    if (this.#outcome === undefined || this.#outcome.code === 0) return;
    throw new Error(`create cluster ended with ${this.#outcome.code}\n${this.#outcome.stderr}\n${this.story()}`);
  }

  /** Starts the command again after it ended by itself, as a person would who read what it said. */
  async runAgain(): Promise<void> {
    await this.#running?.outcome;
    this.#outcome = undefined;
    this.#start();
  }

  get isOver(): boolean {
    return this.#outcome !== undefined;
  }

  /** Waits for a moment of the run. */
  async reach(moment: string, seconds = 240): Promise<void> {
    const endMs = performance.now() + seconds * 1000;
    while (isBefore(latestMoment(this.dir), moment)) {
      this.mustHaveSucceeded();
      if (performance.now() > endMs) throw new Error(`${moment} was not reached in ${seconds} s\n${this.story()}`);
      await pause(10);
    }
  }

  /** `machines`: whose calls to etcd go through it. */
  async openGate(machines: readonly string[] = ['bootstrap', ...masters]): Promise<EtcdGate> {
    this.gate = await openEtcdGate(this.dir, this.infraId, machines);
    return this.gate;
  }

  /** Waits for the command's own end, which must be a good one. */
  async finish(seconds = 420): Promise<void> {
    const endMs = performance.now() + seconds * 1000;
    while (this.#outcome === undefined) {
      if (performance.now() > endMs) throw new Error(`create cluster takes more than ${seconds} s\n${this.story()}`);
      await pause(50);
    }
    this.mustHaveSucceeded();
  }

  /** How the cluster stands now; compared with `goodEnd` at the end of every run, whatever happened in it. */
  async end(): Promise<ClusterEnd> {
    const status = JSON.parse(await cli('status', '--dir', this.dir, '-o', 'json')) as { etcdVoters: string[] };
    const { added, removed, voterCounts } = memberHistory(this.infraId);
    const now = keyDigests(this.dir);
    return {
      ready: await readyNodes(this.dir),
      machines: (await list(this.infraId)).map(({ name }) => name).sort(),
      voters: status.etcdVoters,
      lastVoterCount: voterCounts.at(-1) ?? 0,
      addedTwice: [...added].filter(([, ids]) => ids.size > 1).map(([url]) => url),
      removedMembers: removed.size,
      changedKeys: [...this.#keys].filter(([path, digest]) => now.get(path) !== digest).map(([path]) => path),
    };
  }

  async endLoad(): Promise<LoadReport> {
    if (this.load === undefined) throw new Error('there is no load');
    return this.load.end();
  }

  /** What the machines say about themselves, for whoever has to find out why a run failed. */
  story(): string {
    const folder = `/var/lib/firstlight/clusters/${infraIdOf(this.dir) ?? ''}/machines`;
    const files = names(folder).flatMap((machine) =>
      ['progress.json', 'agent.json'].map((file) => join(folder, machine, 'upper/var/lib/firstlight', file)),
    );
    return files.flatMap((path) => (exists(path) ? [`${path}\n${readFileSync(path, 'utf8')}`] : [])).join('\n');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.load?.kill();
    this.gate?.close();
    this.#isKilled = false;
    this.#running?.child.kill('SIGKILL');
    await this.#running?.outcome;
    if (process.env['FIRSTLIGHT_FIRE_KEEP'] !== undefined) return;
    await startCli(['destroy', 'cluster', '--dir', this.dir]).outcome;
    rmSync(this.folder, { recursive: true, force: true });
  }
}

interface NodeList {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly status: { readonly conditions: readonly { readonly type: string; readonly status: string }[] };
  }[];
}

export async function readyNodes(dir: string): Promise<readonly string[]> {
  const { items } = JSON.parse(await cli('kubectl', '--dir', dir, 'get', 'nodes', '-o', 'json')) as NodeList;
  return items
    .filter(({ status }) => status.conditions.some(({ type, status: is }) => type === 'Ready' && is === 'True'))
    .map(({ metadata }) => metadata.name)
    .sort();
}

/** Of all that is secret or vouches for something; two kubeconfigs have the port of this host beside it. */
function keyDigests(dir: string): ReadonlyMap<string, string> {
  const paths = ['tls', 'auth'].flatMap((folder) => names(join(dir, folder)).map((name) => join(folder, name)));
  return new Map(
    paths
      .filter((path) => !['auth/kubeconfig', 'auth/kubeconfig-break-glass'].includes(path))
      .map((path) => [
        path,
        createHash('sha256')
          .update(readFileSync(join(dir, path)))
          .digest('hex'),
      ]),
  );
}

function names(folder: string): readonly string[] {
  return exists(folder) ? readdirSync(folder).sort() : [];
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
