// A bootstrap that a person runs stage by stage, and that is disturbed: a manifest of the user that no API can take, its
// service killed twice, its machine rebooted, the command that follows it killed and interrupted. What the machine's own
// journal says afterwards is what happened; systemd kept the order. The nodes of this cluster are prepared by the torcx
// bootstrapper (test/e2e/torcx-nodes.ts), people log in to it with tokens of an issuer (test/e2e/login), and an image of
// the test renders a component of its release (test/e2e/rendered-by-image.ts).
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { namedStages } from '../../src/contract/bootstrap-stages.ts';
import { besideTheService, type HeldBootstrap, nextStage, pausedBefore, runScripts, twoAtOnce } from './by-hand.ts';
import { IssuerLab } from './login/issuer-lab.ts';
import { tokenLoginTests } from './login/token-login.ts';
import { cli, eventually, inside, startCli, temporaryFolder } from './machine-lab.ts';
import {
  lookAtRendering,
  type ReleaseWithComponent,
  releaseWithComponent,
  renderedByImageTests,
  type SeenOnMachine,
} from './rendered-by-image.ts';
import { torcxNodesTopic } from './torcx-nodes.ts';
import { installedPods, type JournalEntry, journalOf, starts } from './unit-journal.ts';

const folder = temporaryFolder();
const dir = join(folder, 'cluster');
const create = ['create', 'cluster', '--dir', dir, '--keep-bootstrap', '-o', 'json'];
/** Of a kind that no API knows, until it is corrected on the machine. */
const gear = 'apiVersion: toys.test/v1\nkind: Widget\nmetadata: { name: gear, namespace: default }\n';
const lab = new IssuerLab(folder, 'demo.firstlight.test');
interface Seen {
  pods?: string;
  rendered?: string;
  refused?: string;
  chain?: string;
  authentication?: string;
  interrupted?: number | null;
  unapplied?: string;
  scripts?: Awaited<ReturnType<typeof runScripts>>;
  twice?: string;
  beside?: Awaited<ReturnType<typeof besideTheService>>;
  started?: string;
  status?: string;
  progress?: string;
  followed?: string;
  continued?: string;
  list?: string;
}
const seen: Seen = {};
let infraId: string;
let component: ReleaseWithComponent;
let rendering: SeenOnMachine;
let entries: readonly JournalEntry[];
let keysBefore: string;

const onBootstrap = (script: string): Promise<string> => inside(infraId, 'bootstrap', script);
const quietly = (script: string): Promise<string | undefined> => onBootstrap(script).catch(() => undefined);

/** Digest of every key and certificate of the asset folder. */
function keysDigest(): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(join(dir, 'tls')).sort()) hash.update(readFileSync(join(dir, 'tls', name)));
  return hash.digest('hex');
}

const held: HeldBootstrap = { dir, run: onBootstrap };
const steps: string[] = [];
const step = async (stages: number): Promise<void> => {
  for (let index = 0; index < stages; index += 1) steps.push(await nextStage(held));
};

beforeAll(async () => {
  mkdirSync(join(dir, 'manifests'), { recursive: true });
  writeFileSync(join(dir, 'manifests/gear.yaml'), gear);
  writeFileSync(join(dir, 'install-config.yaml'), `nodeBootstrap: torcx\n${lab.installConfig()}`);
  component = await releaseWithComponent(folder);
  const first = startCli([...create, '--step']);
  infraId = await eventually('the assets', 60, async () => {
    try {
      return (JSON.parse(readFileSync(join(dir, 'metadata.json'), 'utf8')) as { infraID: string }).infraID;
    } catch {
      return undefined;
    }
  });
  await pausedBefore(held, '1 manifests');
  await step(5);
  await onBootstrap('systemctl kill --signal=KILL bootkube.service');
  await pausedBefore(held, '6 version-operator', 2);
  first.child.kill('SIGKILL');
  await first.outcome;
  keysBefore = keysDigest();
  const second = startCli(create);
  await step(7);
  rendering = await lookAtRendering(held);
  seen.scripts = await runScripts(held);
  seen.twice = await twoAtOnce(held);
  seen.beside = await besideTheService(held);
  seen.unapplied = await eventually('that stage 13 names the object', 120, async () => {
    const journal = await quietly('journalctl --unit=bootkube --output=cat');
    return /.*objects? (?:is|are) not in the API.*/.exec(journal ?? '')?.[0];
  });
  await onBootstrap("sed -i 's#Widget#ConfigMap#; s#toys.test/v1#v1#' /opt/firstlight/manifests/gear.yaml");
  await pausedBefore(held, '14 version-overrides');
  await step(2);
  seen.started = await onBootstrap('start-bootstrap.sh 2>&1');
  seen.status = await cli('status', '--dir', dir);
  seen.progress = await onBootstrap('cat /var/lib/firstlight/progress.json');
  seen.chain = await onBootstrap('systemctl list-dependencies --plain rm-assets.service tectonic.service');
  seen.authentication = await onBootstrap('cat /etc/kubernetes/kube-apiserver/authentication.yaml');
  Object.assign(seen, await installedPods(onBootstrap));
  // Its service was stopped and started for that.
  await pausedBefore(held, 'masters', 2);
  second.child.kill('SIGINT');
  const { code, stderr } = await second.outcome;
  Object.assign(seen, { interrupted: code, followed: stderr });
  // A boot is not over while its bootstrap is held.
  await cli('machine', 'reboot', '--cluster', infraId, '--no-wait', 'bootstrap');
  const running = startCli(create);
  // Now by the first start of a new boot.
  await pausedBefore(held, 'masters', 3);
  seen.list = await cli('machine', 'list', '--cluster', infraId);
  seen.continued = await cli('bootkube', 'continue', '--dir', dir);
  const last = await running.outcome;
  if (last.code !== 0) throw new Error(`create cluster ended with ${last.code}\n${last.stderr}`);
  entries = journalOf(await onBootstrap('journalctl --output=json --no-pager --quiet'));
}, 20 * 60_000);

afterAll(async () => {
  await startCli(['destroy', 'cluster', '--dir', dir]).outcome;
  await component[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

describe('the units of a bootstrap that was disturbed', () => {
  test('bootkube began anew after each kill and after the reboot', () => {
    expect(starts(entries, 'bootkube.service').length).toBeGreaterThanOrEqual(4);
    expect(new Set(entries.map(({ boot }) => boot)).size).toBe(2);
  });

  test('the kubelet was up before bootkube on every boot', () => {
    for (const boot of new Set(entries.map((entry) => entry.boot))) {
      const ofBoot = entries.filter((entry) => entry.boot === boot);
      const [kubelet] = starts(ofBoot, 'kubelet.service');
      const [bootkube] = starts(ofBoot, 'bootkube.service');
      expect(kubelet?.atUs).toBeLessThan(bootkube?.atUs ?? 0);
    }
  });

  test('tectonic started exactly once, after bootkube had completed, and rm-assets after both', () => {
    const complete = entries.find(({ message }) => message.includes('bootkube.service complete'));
    const tectonic = starts(entries, 'tectonic.service');
    const removal = starts(entries, 'rm-assets.service');
    expect(complete).toBeDefined();
    expect(tectonic).toHaveLength(1);
    expect(removal).toHaveLength(1);
    expect(tectonic[0]?.atUs).toBeGreaterThan(complete?.atUs ?? Number.POSITIVE_INFINITY);
    expect(removal[0]?.atUs).toBeGreaterThan(tectonic[0]?.atUs ?? Number.POSITIVE_INFINITY);
  });

  test('systemd itself shows the chain', () => {
    expect(seen.chain).toContain('tectonic.service');
    expect(seen.chain).toContain('bootkube.service');
  });

  test('the milestones are in the journal, in order', () => {
    const milestones = [
      'Starting etcd-bootstrap...',
      'Starting kube-apiserver-bootstrap...',
      'Tearing down etcd-bootstrap...',
      'bootkube.service complete',
    ];
    const places = milestones.map((text) => entries.findIndex(({ message }) => message.includes(text)));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });
});

describe('a manifest of an unknown kind', () => {
  test('fails stage 13 with its file, its object and the reason', () => {
    expect(seen.unapplied).toContain('Widget default/gear (01-manifests/gear.yaml#1)');
    expect(seen.unapplied).toContain('does not know Widget of toys.test/v1');
  });

  test('fails `next` as well, for the person who let the stage run', () => {
    expect(seen.beside?.next.code).toBe(5);
    expect(seen.beside?.next.stderr).toMatch(/stage 13 cluster-bootstrap failed: .*Widget default\/gear/);
    expect(seen.beside?.next.stderr).toContain('BOOTKUBE_STAGE_FAILED');
  });

  test('is applied when it is corrected, and the bootstrap goes on', async () => {
    expect(await cli('kubectl', '--dir', dir, 'get', 'configmap', 'gear', '-o', 'name')).toBe('configmap/gear\n');
  });
});

describe('a bootstrap that is held', () => {
  test('went on by one stage with each of fifteen `next`, and each said what it is for, what ran and what was validated', () => {
    const titles = [...steps, seen.beside?.next.stderr ?? ''].map((text) => /^Stage (\d+): /m.exec(text)?.[1]);
    expect(titles.map(Number).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 15 }, (_, index) => index + 1));
    for (const text of steps) {
      expect(text).toMatch(/^ {2}why {7}\S/m);
      expect(text).toMatch(/^ {2}original {2}\S/m);
      expect(text).toMatch(/^ {2}here {6}firstlight bootkube stage \d+/m);
      expect(text).toMatch(/^ {2}✓ \S/m);
      expect(text).toMatch(/^paused before .*: firstlight bootkube next --dir \S+ runs it/m);
      expect(text).not.toContain('PRIVATE KEY');
    }
  });

  test('says so on the screen, in status and in progress.json, and is no stall', () => {
    expect(seen.followed).toMatch(/‖ paused before 13 cluster-bootstrap: firstlight bootkube next --dir \S+ runs it/);
    expect(seen.followed).not.toContain('nothing moves');
    expect(seen.status).toContain('paused before masters');
    expect(JSON.parse(seen.progress ?? '')).toMatchObject({ stage: 'masters', state: 'paused' });
    expect(seen.list).toMatch(/^bootstrap .*systemd says starting: bootkube\.service$/m);
    expect(seen.continued).toContain('goes on with masters');
  });

  test('has the scripts of the document, and each renders, explains, validates and shows what it changed', () => {
    expect(seen.scripts?.scripts.map(({ name }) => name).toSorted()).toEqual(
      [...Object.keys(namedStages).filter((name) => name !== 'start-bootstrap'), 'render-all'].toSorted(),
    );
    for (const { name, said } of seen.scripts?.scripts ?? []) {
      expect(said, name).toMatch(/^ {2}original {2}\S/m);
      expect(said, name).toMatch(/done and verified|unchanged/);
      if (!['render-all', 'render-mco'].includes(name)) expect(said, name).toContain('-# by hand');
    }
    expect(seen.scripts?.isSame).toBe(true);
  });

  test('lets one process write at a time: two stages by hand, and one beside the service until that is killed', () => {
    expect(seen.twice?.match(/^stage 8 kube-apiserver: /gm)).toHaveLength(2);
    expect(seen.beside?.byHand).toMatch(/waits for process \d+ \(bootkube\.service, stage 13 cluster-bootstrap\)/);
    expect(seen.beside?.byHand).toContain('ended with 0');
  });

  test('start-bootstrap.sh by hand changes nothing that runs, and after the end everything is refused', async () => {
    expect(seen.started).toMatch(/stage 13 cluster-bootstrap: unchanged/);
    expect(await onBootstrap('render-etcd.sh 2>&1 || true')).toContain('BOOTKUBE_OVER');
  });
});

describe('what the stages rendered', () => {
  test('is, byte for byte, what the kubelet runs', () => {
    expect(seen.pods?.split('\n').filter(Boolean)).toHaveLength(4);
    expect(seen.pods).toBe(seen.rendered);
  });

  test('is refused by stage 13 when a byte of it was altered, by name', () => {
    expect(seen.refused).toContain('BOOTKUBE_ALTERED');
    expect(seen.refused).toContain('07-etcd');
  });
});

describe('stages that images render', () => {
  renderedByImageTests({ seen: () => rendering, component: () => component, dir });
});

describe('nodes with nodeBootstrap: torcx', () => {
  torcxNodesTopic({ dir, folder, infraId: () => infraId });
});

tokenLoginTests({
  dir,
  folder,
  infraId: () => infraId,
  masters: ['master-0', 'master-1', 'master-2'],
  lab,
  ofBootstrap: () => seen.authentication,
});

describe('the command', () => {
  test('says by its exit code that it was interrupted', () => {
    expect(seen.interrupted).toBe(8);
  });

  test('went on with the same keys, and the cluster stands', async () => {
    expect(keysDigest()).toBe(keysBefore);
    const status = JSON.parse(await cli('status', '--dir', dir, '-o', 'json')) as Record<string, unknown>;
    expect(status).toMatchObject({ api: { isReady: true }, etcdVoters: ['master-0', 'master-1', 'master-2'] });
  });

  test('destroy bootstrap removes the machine that was kept', async () => {
    expect(await onBootstrap('find /opt/firstlight -type f; ls /etc/kubernetes/manifests')).toBe('');
    await cli('destroy', 'bootstrap', '--dir', dir);
    expect(await cli('machine', 'list', '--cluster', infraId)).not.toContain('bootstrap');
  });
});
