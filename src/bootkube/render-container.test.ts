import { beforeEach, describe, expect, test } from 'vitest';
import { bootedMachine } from '../../test/booted-machine.ts';
import { type FakeImage, type FakeRuntime, fakeRuntime, Hangs, ownImage } from '../../test/fake-containers.ts';
import { bootkubeJournal } from '../contract/bootstrap-paths.ts';
import { type FakeHost, fakeHost } from '../host/fake/fake-host.ts';
import type { ReleaseManifest } from '../release/release-manifest.ts';
import { lastRecords } from '../workflow/engine.ts';
import { readJournal } from '../workflow/journal.ts';
import { loadContext, machineFolders } from './context.ts';
import { type RenderStage, stageInContainer } from './render-stage.ts';
import { renderStages } from './render-stages.ts';
import { renderedManifests, seedPlaces } from './rendered-manifests.ts';
import { runBootkubeStages } from './run-service.ts';
import { stageReport } from './stage-report.ts';
import { ingress } from './stages/11-ingress.ts';

const digest = 'c'.repeat(64);
const image = `release.firstlight.internal/cluster-ingress-operator@sha256:${digest}`;
const own = `release.firstlight.internal/firstlight@sha256:${'a'.repeat(64)}`;
const log = '/var/log/firstlight/render/11-ingress.log';
const manifest = 'apiVersion: v1\nkind: Namespace\nmetadata: { name: apps }\n';

/** A machine whose release lets `image` render ingress. */
async function machineWithComponent(): Promise<FakeHost> {
  const host = await bootedMachine();
  const release = JSON.parse(await host.files.readText(machineFolders.releaseFile)) as ReleaseManifest;
  const name = 'cluster-ingress-operator';
  const row = { reference: image, image: name, original: name, component: 'ingress', renders: 'image', why: 'test' };
  const images = [...release.images, { name, reference: image, tag: `${name}:v1`, digest, sizeBytes: 1 }];
  const imageVariables = { ...release.imageVariables, INGRESS_OPERATOR_IMAGE: row };
  await host.files.write(machineFolders.releaseFile, JSON.stringify({ ...release, images, imageVariables }));
  return host;
}

interface Machine {
  readonly host: FakeHost;
  readonly runtime: FakeRuntime;
}

function withRuntime({ disk }: FakeHost, images: Readonly<Record<string, FakeImage>>): Machine {
  const runtime = fakeRuntime(disk, images);
  return { host: fakeHost({ disk, seed: 'machine', processes: { run: runtime.run } }), runtime };
}

async function run({ host }: Machine, stages: readonly RenderStage[]): Promise<void> {
  const context = await loadContext(host, () => {});
  const { signal } = new AbortController();
  await runBootkubeStages({ context, stages, emit: () => {}, signal, purpose: 'test', patienceMs: 0 });
}

/** Paths, contents and modes of all that the stages have rendered. */
function rendered({ host }: Machine): Readonly<Record<string, string>> {
  const files = [...host.disk.nodes].flatMap(([path, node]) =>
    node.kind === 'file' && path.startsWith(`${machineFolders.render}/`)
      ? [[path, `${node.mode.toString(8)} ${node.content.toString('utf8')}`] as const]
      : [],
  );
  return Object.fromEntries(files);
}

const inContainers = renderStages.map(stageInContainer);

describe('our own image in a container', () => {
  test('writes the same bytes as bootkube in its own process, in all twelve stages', async () => {
    const machine = withRuntime(await bootedMachine(), { [own]: ownImage });
    await run(machine, renderStages);
    const inProcess = rendered(machine);
    expect(machine.runtime.calls).toEqual([]);
    await run(machine, inContainers);
    expect(machine.runtime.calls.filter(([verb]) => verb === 'run')).toHaveLength(12);
    expect(rendered(machine)).toEqual(inProcess);
    expect(Object.keys(inProcess).length).toBeGreaterThan(60);
  });

  test('makes the keys where there are none, and bootkube keeps them', async () => {
    const machine = withRuntime(await bootedMachine(), { [own]: ownImage });
    await run(machine, inContainers);
    const first = rendered(machine);
    expect(Object.keys(first)).toContain(`${machineFolders.render}/07-etcd/etcd/etcd-peer.key`);
    await machine.host.files.remove(bootkubeJournal);
    await run(machine, renderStages);
    expect(rendered(machine)).toEqual(first);
  });

  test('sees the keys of its own stage alone, has one writable folder and no network', async () => {
    const machine = withRuntime(await bootedMachine(), { [own]: ownImage });
    await run(machine, inContainers);
    const runs = machine.runtime.calls.filter(([verb]) => verb === 'run');
    for (const words of runs) {
      expect(words).toEqual(expect.arrayContaining(['--read-only', '--rm', '--seccomp']));
      expect(words.filter((word) => /net-host|privileged|cni/.test(word))).toEqual([]);
      expect(words.filter((word) => /options=.*\brw\b/.test(word))).toHaveLength(1);
    }
    const keysOf = (words: readonly string[] | undefined): readonly string[] =>
      (words ?? []).filter((word) => word.startsWith('type=bind') && word.includes(',dst=/assets/tls'));
    expect(keysOf(runs[4])).toEqual([expect.stringContaining('src=/opt/firstlight/tls,')]);
    expect(keysOf(runs[5])).toEqual([expect.stringContaining('src=/opt/firstlight/tls/root-ca.crt,')]);
    expect(keysOf(runs[10])).toEqual([]);
    expect(machine.runtime.left).toEqual(new Set());
    expect(await machine.host.files.list('/opt/firstlight/rendering')).toEqual([]);
  });
});

describe('an image that renders a component', () => {
  let host: FakeHost;
  beforeEach(async () => {
    host = await machineWithComponent();
  });

  const writes =
    (path: string, content: string): FakeImage =>
    async (container) =>
      container.host.files.write(`${container.output}/${path}`, content);

  test('is called with the words of the original, and what it wrote is seeded into the API', async () => {
    let words: readonly string[] = [];
    let variables: object = {};
    const machine = withRuntime(host, {
      [image]: async (container) => {
        ({ words } = container);
        ({ variables } = container.host.environment);
        await writes('namespace.yaml', manifest)(container);
      },
    });
    await run(machine, renderStages);
    expect(words).toEqual(['render', '--asset-input-dir=/assets/tls', '--asset-output-dir=/assets/ingress']);
    expect(variables).toMatchObject({ INGRESS_OPERATOR_IMAGE: image, FIRSTLIGHT_IMAGE: own });
    const context = await loadContext(machine.host, () => {});
    expect((await renderedManifests(context, seedPlaces)).map(({ source }) => source)).toContain(
      '11-ingress/namespace.yaml#1',
    );
    const { rendersBy } = await stageReport(context, ingress);
    expect(rendersBy).toBe(`${image}, in a container of this machine`);
  });

  test('is recorded by its digest, and rendered again when the release has another image', async () => {
    const machine = withRuntime(host, { [image]: writes('namespace.yaml', manifest) });
    await run(machine, renderStages);
    const record = lastRecords(await readJournal(machine.host.files, bootkubeJournal)).get('ingress');
    expect(record?.inputs['INGRESS_OPERATOR_IMAGE']).toBe(digest);
    expect(Object.keys(record?.outputs ?? {})).toEqual(['namespace.yaml']);
    expect(record?.note).toBe(`1 file by ${image.slice(0, -52)}`);
    const context = await loadContext(machine.host, () => {});
    expect(await ingress.observe(context, record)).toEqual({ status: 'done' });
    const images = { ...context.images, INGRESS_OPERATOR_IMAGE: own };
    expect(await ingress.observe({ ...context, images }, record)).toMatchObject({
      status: 'needed',
      because: 'INGRESS_OPERATOR_IMAGE changed',
    });
  });

  const wrong: readonly (readonly [what: string, program: FakeImage | undefined, code: string, said: RegExp])[] = [
    [
      'fails',
      async () => {
        throw new Error('no such template');
      },
      'BOOTKUBE_RENDER_FAILED',
      /no such template \(it ended with 3\)/,
    ],
    [
      'does not end',
      async () => {
        throw new Hangs();
      },
      'BOOTKUBE_RENDER_HANGS',
      /did not end within 60 s/,
    ],
    ['writes nothing', async () => {}, 'BOOTKUBE_RENDER_OUTPUT', /\/assets\/ingress: nothing was written/],
    ['is not on the machine', undefined, 'BOOTKUBE_RENDER_IMAGE', /this machine does not have it/],
    ['writes what is no YAML', writes('a.yaml', 'a: [\n'), 'BOOTKUBE_RENDER_OUTPUT', /a\.yaml: /],
    ['writes what is no JSON', writes('a.json', '{'), 'BOOTKUBE_RENDER_OUTPUT', /a\.json: it is not JSON/],
    ['writes a strange name', writes('-rf *', ''), 'BOOTKUBE_RENDER_OUTPUT', /no plain name/],
    [
      'writes a link out of its folder',
      (container) => container.host.files.symlink('/etc/shadow', `${container.output}/a.yaml`),
      'BOOTKUBE_RENDER_OUTPUT',
      /a\.yaml: it is a link/,
    ],
    ['writes no object', writes('a.yaml', 'a: 1\n'), 'WORKFLOW_VERIFY', /a\.yaml: an object without apiVersion/],
  ];
  test.each(wrong)('that %s fails the stage, which is tried again', async (_what, program, code, said) => {
    const machine = withRuntime(host, program === undefined ? {} : { [image]: program });
    await expect(run(machine, renderStages)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(said) as string,
    });
    const records = lastRecords(await readJournal(machine.host.files, bootkubeJournal));
    expect([...records.keys()].at(-1)).toBe('scheduler');
    expect(machine.runtime.left).toEqual(new Set());
    expect(await machine.host.files.list('/opt/firstlight/rendering')).toEqual([]);
    if (program !== undefined)
      expect(await machine.host.files.readText(log)).toContain(
        `${image} /operator render --asset-input-dir=/assets/tls`,
      );
    const cured = withRuntime(machine.host, { [image]: writes('namespace.yaml', manifest) });
    await run(cured, renderStages);
    expect(lastRecords(await readJournal(cured.host.files, bootkubeJournal)).has('machine-config')).toBe(true);
  });

  test('must be one of the release', async () => {
    await host.files.makeFolder('/etc/firstlight');
    await host.files.write('/etc/firstlight/bootkube.env', `INGRESS_OPERATOR_IMAGE=other.test/x@sha256:${digest}\n`);
    const machine = withRuntime(host, {});
    await expect(run(machine, [ingress])).rejects.toMatchObject({
      code: 'BOOTKUBE_RENDER_IMAGE',
      message: expect.stringContaining('it is no image of this release') as string,
    });
  });

  test('that was left running by a killed bootkube is removed first', async () => {
    const machine = withRuntime(host, { [image]: writes('namespace.yaml', manifest) });
    machine.runtime.left.add('firstlight-render-11-ingress');
    await run(machine, renderStages);
    const verbs = machine.runtime.calls.map((words) => words.slice(0, 2).join(' '));
    expect(verbs.filter((verb) => !verb.startsWith('content '))).toEqual([
      'containers list',
      'tasks delete',
      'containers delete',
      'run --rm',
    ]);
    expect(machine.runtime.left).toEqual(new Set());
  });
});
