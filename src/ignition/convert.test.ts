import { expect, test } from 'vitest';
import type { IgnitionConfig, Luks } from './config.ts';
import { convert } from './convert.ts';
import type { SpecVersion } from './spec-version.ts';

const of = (version: SpecVersion, body: Omit<IgnitionConfig, 'ignition'> = {}): IgnitionConfig => ({
  ignition: { version },
  ...body,
});
const file = (contents: object): IgnitionConfig => of('3.5.0', { storage: { files: [{ path: '/a', contents }] } });
const luks = (entry: Partial<Luks>): IgnitionConfig =>
  of('3.5.0', { storage: { luks: [{ name: 'a', device: '/d', ...entry }] } });
const tang = { url: 'http://a', thumbprint: 'b', advertisement: '{}' };
const headers = [{ name: 'a', value: 'b' }];

test('upwards always works, and only the version changes', () => {
  const body = { storage: { files: [{ path: '/a', mode: 0o755 }] } };
  expect(convert(of('3.0.0', body), '3.5.0')).toEqual({ status: 'converted', config: of('3.5.0', body) });
});

test('upwards across 3.3, a target that was left out becomes the empty one it was', () => {
  const link = (target?: string) => ({
    storage: { links: [{ path: '/a', ...(target === undefined ? {} : { target }) }] },
  });
  expect(convert(of('3.2.0', link()), '3.3.0')).toEqual({ status: 'converted', config: of('3.3.0', link('')) });
  expect(convert(of('3.0.0', link()), '3.2.0')).toEqual({ status: 'converted', config: of('3.2.0', link()) });
});

test('downwards works where nothing is lost, leaving out what only says what is so anyway', () => {
  const user = { name: 'core', shouldExist: true };
  const converted = convert(of('3.5.0', { passwd: { users: [user] }, kernelArguments: { shouldExist: [] } }), '3.0.0');
  expect(converted).toEqual({ status: 'converted', config: of('3.0.0', { passwd: { users: [{ name: 'core' }] } }) });
});

const lossy: readonly (readonly [string, IgnitionConfig, SpecVersion, string])[] = [
  ['cex', luks({ cex: { enabled: true } }), '3.4.0', '$.storage.luks.0.cex'],
  ['discard', luks({ discard: true }), '3.3.0', '$.storage.luks.0.discard'],
  ['openOptions', luks({ openOptions: ['a'] }), '3.3.0', '$.storage.luks.0.openOptions'],
  ['an advertisement', luks({ clevis: { tang: [tang] } }), '3.3.0', '$.storage.luks.0.clevis.tang.0.advertisement'],
  ['an ARN', file({ source: 'arn:aws:s3:::b/k' }), '3.3.0', '$.storage.files.0.contents.source'],
  ['kernel arguments', of('3.5.0', { kernelArguments: { shouldExist: ['a'] } }), '3.2.0', '$.kernelArguments'],
  [
    'format none',
    of('3.5.0', { storage: { filesystems: [{ device: '/d', format: 'none' }] } }),
    '3.2.0',
    '$.storage.filesystems.0.format',
  ],
  ['luks', luks({}), '3.1.0', '$.storage.luks'],
  [
    'shouldExist',
    of('3.5.0', { passwd: { groups: [{ name: 'a', shouldExist: false }] } }),
    '3.1.0',
    '$.passwd.groups.0.shouldExist',
  ],
  [
    'resize',
    of('3.5.0', { storage: { disks: [{ device: '/d', partitions: [{ number: 1, resize: true }] }] } }),
    '3.1.0',
    '$.storage.disks.0.partitions.0.resize',
  ],
  ['a gs source', file({ source: 'gs://b/k' }), '3.1.0', '$.storage.files.0.contents.source'],
  ['a proxy', { ignition: { version: '3.5.0', proxy: { noProxy: ['a'] } } }, '3.0.0', '$.ignition.proxy'],
  ['headers', file({ source: 'http://a', httpHeaders: headers }), '3.0.0', '$.storage.files.0.contents.httpHeaders'],
  [
    'a compressed reference',
    { ignition: { version: '3.5.0', config: { replace: { source: 'http://a', compression: 'gzip' } } } },
    '3.0.0',
    '$.ignition.config.replace.compression',
  ],
  [
    'sha256',
    file({ source: 'http://a', verification: { hash: `sha256-${'0'.repeat(64)}` } }),
    '3.0.0',
    '$.storage.files.0.contents.verification.hash',
  ],
  [
    'mountOptions',
    of('3.5.0', { storage: { filesystems: [{ device: '/d', format: 'xfs', mountOptions: ['a'] }] } }),
    '3.0.0',
    '$.storage.filesystems.0.mountOptions',
  ],
];

test.each(lossy)('%s is lost below its spec, and said to be', (_, config, version, path) => {
  const converted = convert(config, version);
  expect(converted.status === 'lossy' && converted.losses.map((loss) => loss.path)).toEqual([path]);
});

test('losses say which spec they need', () => {
  expect(convert(luks({ discard: true }), '3.2.0')).toEqual({
    status: 'lossy',
    losses: [{ path: '$.storage.luks.0.discard', reason: 'needs spec 3.4.0' }],
  });
});

test('an invalid config is not converted', () => {
  expect(convert(of('3.5.0', { storage: { files: [{ path: 'a' }] } }), '3.4.0')).toMatchObject({
    status: 'invalid',
    report: { errors: [{ code: 'RELATIVE_PATH' }] },
  });
});
