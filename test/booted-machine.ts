// A bootstrap machine for tests, after Ignition and without a kubelet: the files of bootstrap.ign, a release, and what
// firstlight-prepare found.
import { createAssets } from '../src/assets/create-assets.ts';
import { targets } from '../src/assets/targets.ts';
import { machineFolders } from '../src/bootkube/context.ts';
import { releaseImageFile } from '../src/contract/machine-paths.ts';
import { nodeEnvironmentText } from '../src/contract/node-environment.ts';
import { type FakeHost, fakeHost } from '../src/host/fake/fake-host.ts';
import { decodeDataUrl } from '../src/ignition/data-url.ts';
import { imageVariables } from '../src/release/images/image-variables.ts';
import { partImages } from '../src/release/images/images.ts';

export async function bootedMachine(installConfig = ''): Promise<FakeHost> {
  const host = fakeHost({ seed: 'bootkube' });
  await host.files.makeFolder('/w');
  if (installConfig !== '') await host.files.write('/w/install-config.yaml', installConfig);
  const { signal } = new AbortController();
  await createAssets({
    host,
    dir: '/w',
    targets: targets['ignition-configs'],
    purpose: 'test',
    emit: () => {},
    signal,
  });
  const ignition = JSON.parse(await host.files.readText('/w/bootstrap.ign')) as {
    storage: { files: { path: string; mode: number; contents: { source: string } }[] };
  };
  for (const { path, mode, contents } of ignition.storage.files) {
    const decoded = decodeDataUrl(contents.source);
    if (decoded.status !== 'decoded') throw new Error(path);
    await host.files.makeFolder(path.slice(0, path.lastIndexOf('/')));
    await host.files.write(path, decoded.url.bytes, { mode });
  }
  await host.files.makeFolder('/run/firstlight');
  await host.files.write(
    '/run/firstlight/node.env',
    nodeEnvironmentText({ name: 'bootstrap', addresses: ['10.99.0.10'] }),
  );
  await host.files.makeFolder('/usr/local/share/firstlight');
  await host.files.write(machineFolders.releaseFile, JSON.stringify(release()));
  await host.files.write(releaseImageFile, JSON.stringify({ reference: bootedRelease }));
  return host;
}

export const bootedRelease = `release.firstlight.internal/release@sha256:${'b'.repeat(64)}`;

function release(): object {
  const digest = 'a'.repeat(64);
  const images = [...partImages.map(({ name }) => name), 'firstlight'].map((name) => {
    const full = `release.firstlight.internal/${name}`;
    return { name, reference: `${full}@sha256:${digest}`, tag: `${full}:v1`, digest, sizeBytes: 1 };
  });
  const variables = imageVariables.map(({ variable, image, component, ...row }) => {
    const reference = images.find(({ name }) => name === image)?.reference ?? '';
    const renders = component === undefined ? 'nothing' : 'built-in';
    return [variable, { ...row, reference, image, component, renders }];
  });
  return {
    format: 1,
    version: '0.1.0',
    kubernetes: '1.37.1',
    architecture: 'amd64',
    parts: [],
    images,
    imageVariables: Object.fromEntries(variables),
  };
}
