// Components that images render, on a bootstrap machine that a person holds before stage 13: our own image in
// containers writes what bootkube writes in its own process; an image that this test made renders ingress, and what it
// wrote is in the API of the cluster. The release with that image is built in a copy of the cache, whose files are
// shared with the original.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { firstlightFolder } from '../../src/contract/machine-paths.ts';
import { realHost } from '../../src/host/real/real-host.ts';
import { cacheFolder } from '../../src/release/cache/cache.ts';
import { currentRelease } from '../../src/release/current.ts';
import { blobFolder, writeImage, writeIndex } from '../../src/release/images/oci-image.ts';
import { cli } from './machine-lab.ts';

export interface ReleaseWithComponent extends AsyncDisposable {
  /** Of the image that renders ingress. */
  readonly digest: string;
}

/** What the image runs: writes two objects, with what it was given in one of them. It says what it sees of the rest. */
const program = `
import { readdirSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
const output = process.argv.find((word) => word.startsWith('--asset-output-dir=')).split('=')[1];
const attempt = (path) => { try { writeFileSync(path, ''); return 'written'; } catch (error) { return error.code; } };
const seen = {
  words: process.argv.slice(2).join(' '),
  interfaces: Object.keys(networkInterfaces()).join(' '),
  root: attempt('/elsewhere'),
  run: attempt('/run/elsewhere'),
  input: attempt('/opt/firstlight/manifests/cluster-config.yaml'),
  keys: readdirSync('/assets/tls').join(' '),
  assets: readdirSync('/assets').sort().join(' '),
  image: process.env.INGRESS_OPERATOR_IMAGE,
};
console.log('the render of a test', JSON.stringify(seen));
const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'rendered-by-image' } };
const metadata = { name: 'seen', namespace: 'rendered-by-image' };
writeFileSync(output + '/00-namespace.json', JSON.stringify(namespace));
writeFileSync(output + '/10-seen.json', JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: seen }));
`;

/**
 * Builds a release whose ingress is rendered by an image of this test, and makes it the one that every command of this
 * process uses, until it is disposed of. Before that the cluster must be destroyed.
 */
export async function releaseWithComponent(folder: string): Promise<ReleaseWithComponent> {
  const { layout, digest } = await imageThatRenders(join(folder, 'ingress-operator'));
  const original = cacheFolder(realHost().environment);
  const before = process.env['FIRSTLIGHT_CACHE'];
  // Beside it, because a hard link cannot leave its disk. An entry never changes, so its files can be shared.
  const copy = `${original}-e2e-${process.pid}`;
  const copied = spawnSync('cp', ['--archive', '--link', original, copy], { encoding: 'utf8' });
  if (copied.status !== 0) throw new Error(copied.stderr);
  process.env['FIRSTLIGHT_CACHE'] = copy;
  await cli('release', 'build', '--component', `ingress=${layout}`);
  return {
    digest,
    [Symbol.asyncDispose]: async () => {
      if (before === undefined) delete process.env['FIRSTLIGHT_CACHE'];
      else process.env['FIRSTLIGHT_CACHE'] = before;
      spawnSync('rm', ['--recursive', '--force', copy]);
    },
  };
}

/** On the layers of the release's Node, so that it costs nothing. */
async function imageThatRenders(layout: string): Promise<{ readonly layout: string; readonly digest: string }> {
  const host = realHost();
  const { release, manifest } = await currentRelease(host);
  const node = manifest.images.find(({ name }) => name === 'node');
  const text = await host.files.readText(join(release.content, blobFolder, node?.digest ?? ''));
  const { layers } = JSON.parse(text) as { layers: readonly { digest: string; size: number }[] };
  const blobs = layers.map(({ digest, size }) => ({ digest: digest.replace('sha256:', ''), sizeBytes: size }));
  const image = await writeImage(host.files, layout, {
    name: 'elsewhere.test/ingress-operator',
    tag: 'v1',
    config: {
      architecture: manifest.architecture,
      entrypoint: [`${firstlightFolder}/bin/node`, '/ingress-operator.mjs'],
    },
    base: { from: release.content, layers: blobs },
    layers: [{ 'ingress-operator.mjs': { kind: 'text', text: program } }],
  });
  await writeIndex(host.files, layout, [image]);
  return { layout, digest: image.digest };
}

export interface HeldMachine {
  /** Runs a script on the bootstrap machine; rejects if it fails. */
  readonly run: (script: string) => Promise<string>;
}

export interface SeenOnMachine {
  /** `sha256sum` and mode of every rendered file, before and after all twelve stages ran in containers. */
  readonly inProcess: string;
  readonly inContainers: string;
  /** What the twelve stages said. */
  readonly said: string;
  readonly stage11: string;
  readonly log: string;
  readonly record: string;
  /** Of the image of etcd, which renders nothing. */
  readonly wrongImage: string;
  readonly leftOver: string;
}

const rendered =
  'cd /opt/firstlight/render && find . -type f | sort | xargs stat --format="%a %U %n" && ' +
  'find . -type f | sort | xargs sha256sum';

/** While the bootstrap is held before stage 13 (`--pause-before cluster-bootstrap`). */
export async function lookAtRendering({ run }: HeldMachine): Promise<SeenOnMachine> {
  const inProcess = await run(rendered);
  const said = await run(
    'for n in 1 2 3 4 5 6 7 8 9 10 11 12; do firstlight bootkube stage $n --in-container 2>&1; done',
  );
  return {
    inProcess,
    said,
    inContainers: await run(rendered),
    stage11: await run('firstlight bootkube stage 11 --show 2>&1'),
    log: await run('cat /var/log/firstlight/render/11-ingress.log'),
    record: await run('grep \'"stage":"ingress"\' /var/lib/firstlight/bootkube/journal | tail -n 1'),
    wrongImage: await run(
      'export INGRESS_OPERATOR_IMAGE=$(sed -n s/^ETCD_IMAGE=//p /opt/firstlight/render/02-release-info/images.env); ' +
        'firstlight bootkube stage 11 2>&1; echo "ended with $?"',
    ),
    leftOver: await run(
      'ctr --namespace k8s.io containers list --quiet | grep firstlight-render; ls /opt/firstlight/rendering; true',
    ),
  };
}

export interface RenderedFacts {
  readonly seen: () => SeenOnMachine;
  readonly component: () => ReleaseWithComponent;
  /** The asset folder of the cluster, which has been handed off. */
  readonly dir: string;
}

export function renderedByImageTests({ seen, component, dir }: RenderedFacts): void {
  test('our own image in containers wrote the bytes that bootkube writes in its own process, in all twelve stages', () => {
    const { inProcess, inContainers, said } = seen();
    expect(said.match(/done and verified, .*\bby release\.firstlight\.internal\//g)).toHaveLength(12);
    expect(inContainers).toBe(inProcess);
    expect(inProcess.split('\n').length).toBeGreaterThan(120);
  });

  test('the image of the component rendered stage 11, and is recorded by its digest', () => {
    const { stage11, log, record } = seen();
    const { digest } = component();
    // Long lines go on below.
    const words = stage11.replaceAll(/\s+/g, ' ');
    expect(words).toContain(`cluster-ingress-operator@sha256:${digest}, in a container of this machine`);
    expect(log).toContain('the render of a test');
    const { inputs, outputs } = JSON.parse(/\{.*\}/.exec(record)?.[0] ?? '') as Record<string, Record<string, string>>;
    expect(inputs?.['INGRESS_OPERATOR_IMAGE']).toBe(digest);
    expect(Object.keys(outputs ?? {})).toEqual(['00-namespace.json', '10-seen.json']);
  });

  test('it had no network, no key, and nothing to write to but its output', async () => {
    const text = await cli(
      'kubectl',
      '--dir',
      dir,
      '-n',
      'rendered-by-image',
      'get',
      'configmap',
      'seen',
      '-o',
      'json',
    );
    expect((JSON.parse(text) as { data: object }).data).toEqual({
      words: 'render --asset-input-dir=/assets/tls --asset-output-dir=/assets/ingress',
      interfaces: 'lo',
      root: 'EROFS',
      run: 'EROFS',
      input: 'EROFS',
      keys: '',
      assets: 'ingress tls',
      image: `release.firstlight.internal/cluster-ingress-operator@sha256:${component().digest}`,
    });
  });

  test('an image that cannot render is named with its log, and leaves nothing behind', () => {
    const { wrongImage, leftOver } = seen();
    expect(wrongImage).toContain('BOOTKUBE_RENDER_FAILED');
    expect(wrongImage).toContain('/var/log/firstlight/render/11-ingress.log');
    expect(wrongImage).not.toContain('ended with 0');
    expect(leftOver.trim()).toBe('');
  });

  test('the release says who renders', async () => {
    expect(await cli('release', 'info')).toMatch(
      /INGRESS_OPERATOR_IMAGE +cluster-ingress-operator +ingress: this image/,
    );
  });
}
