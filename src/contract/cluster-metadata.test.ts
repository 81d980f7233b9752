import { expect, test } from 'vitest';
import { fakeHost } from '../host/fake/fake-host.ts';
import type { Files } from '../host/files.ts';
import { clusterMetadataText, readClusterMetadata } from './cluster-metadata.ts';

const metadata = {
  clusterName: 'demo',
  clusterID: '6d2c4a52-8a34-4b0c-9a53-0f3f2a7f9d11',
  infraID: 'demo-Abc12',
  platform: { local: {} },
};

async function folderWith(text: string): Promise<Files> {
  const { files } = fakeHost();
  await files.makeFolder('/lab');
  await files.write('/lab/metadata.json', text);
  return files;
}

test('metadata.json is read as it was written, with fields that a person added', async () => {
  const files = await folderWith(clusterMetadataText({ ...metadata, owner: 'team' }));
  expect(await readClusterMetadata(files, '/lab')).toEqual({ ...metadata, owner: 'team' });
  expect(await readClusterMetadata(files, '/elsewhere')).toBeUndefined();
});

test.each([
  ['{"clusterName": "de', 'it is not JSON'],
  ['{"clusterName": "demo"}', 'clusterID'],
])('a damaged metadata.json (%s) is named with its path', async (text, reason) => {
  const files = await folderWith(text);
  await expect(readClusterMetadata(files, '/lab')).rejects.toMatchObject({
    code: 'CLUSTER_METADATA',
    message: expect.stringMatching(new RegExp(`^/lab/metadata\\.json: [^]*${reason}`)),
  });
});
