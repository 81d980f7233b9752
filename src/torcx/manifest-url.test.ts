import { expect, test } from 'vitest';
import { defaultManifestUrl, renderManifestUrl } from './manifest-url.ts';

test('the manifest URL fills in what is known, percent-encoded', () => {
  expect(renderManifestUrl(defaultManifestUrl, { board: 'amd64-usr', osVersion: '1520.5.0' })).toBe(
    'https://tectonic-torcx.release.core-os.net/manifests/amd64-usr/1520.5.0/torcx_manifest.json',
  );
  expect(renderManifestUrl('https://x/{{ .Board }}/{{.OSVersion}}', { board: 'a/b', osVersion: '1.2.3+x' })).toBe(
    'https://x/a%2Fb/1.2.3%2Bx',
  );
});
