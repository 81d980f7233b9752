// JSON, versions, types, unknown keys, duplicates.
import type { Case } from './case.ts';
import { bytes, config, configOf, raw } from './case.ts';

const withVersion = (version: string, ...codes: Parameters<typeof raw>[2][]) =>
  raw(`version ${version}`, `{"ignition":{"version":${version}}}`, ...codes);

export const readingCases: readonly Case[] = [
  raw('nothing at all', '', 'EMPTY'),
  raw('only white space', ' \n', 'BAD_JSON'),
  raw('a byte order mark', '\ufeff{"ignition":{"version":"3.5.0"}}', 'BAD_JSON'),
  raw('an open brace', '{', 'BAD_JSON'),
  raw('text after the end', '{"ignition":{"version":"3.5.0"}} x', 'BAD_JSON'),
  raw('a trailing comma', '{"ignition":{"version":"3.5.0",}}', 'BAD_JSON'),
  raw('a comment', '{"ignition":{"version":"3.5.0"}} // no', 'BAD_JSON'),
  raw('a key without quotes', '{ignition:{"version":"3.5.0"}}', 'BAD_JSON'),
  raw('single quotes', "{'ignition':{'version':'3.5.0'}}", 'BAD_JSON'),
  raw('a tab inside a text', '{"ignition":{"version":"3.5.0"},"a":"\t"}', 'BAD_JSON'),
  raw('an unknown escape', String.raw`{"ignition":{"version":"3.5.0"},"a":"\x41"}`, 'BAD_JSON'),
  raw('an open text', '{"ignition":{"version":"3.5.0', 'BAD_JSON'),
  raw('a number with a leading zero', '{"ignition":{"version":"3.5.0"},"a":01}', 'BAD_JSON'),
  raw(
    'nesting without end',
    `{"ignition":{"version":"3.5.0"},"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
    'BAD_JSON',
  ),
  raw('deep nesting', `{"ignition":{"version":"3.5.0"},"a":${'['.repeat(9_000)}${']'.repeat(9_000)}}`, 'UNKNOWN_KEY'),
  raw('a list', '[]', 'WRONG_TYPE'),
  raw('a number', '3', 'WRONG_TYPE'),
  raw('null', 'null', 'BAD_VERSION'),
  raw('ignition is a list', '{"ignition":[]}', 'WRONG_TYPE'),
  raw('no version', '{"ignition":{}}', 'BAD_VERSION'),
  raw('no ignition', '{}', 'BAD_VERSION'),
  raw('escapes in keys and values', String.raw`{"ign\u0069tion":{"version":"3.\u0035.0"}}`),
  raw('half a surrogate pair', String.raw`{"ignition":{"version":"3.5.0"},"passwd":{"users":[{"name":"\ud800"}]}}`),

  bytes('bytes that are no UTF-8 in a path', '"storage":{"files":[{"path":"/a\xe2\x82"}]}'),
  bytes(
    'paths that are equal because each such byte is one unknown character',
    '"storage":{"files":[{"path":"/a\xe2\x82"},{"path":"/a\xff\xff"}]}',
    'DUPLICATE',
  ),
  bytes(
    'half a character and the sign for an unknown one',
    '"storage":{"files":[{"path":"/a\xe2\x82"},{"path":"/a\xef\xbf\xbd"}]}',
  ),
  bytes('surrogates and what is beyond Unicode', `"storage":{"files":[{"path":"/\xed\xa0\x80\xf4\x90\x80\x80"}]}`),
  bytes('characters of every length', '"storage":{"files":[{"path":"/\xff\xc3\xa9\xe2\x82\xac\xf0\x9f\x92\xa9"}]}'),
  bytes(
    'a label that is too long only as unknown characters',
    `"storage":{"luks":[{"name":"a","device":"/a","label":"${'\xe2\x82'.repeat(8)}"}]}`,
    'LUKS_LABEL_TOO_LONG',
  ),
  bytes(
    'such a byte in a data URL',
    '"storage":{"files":[{"path":"/a","contents":{"source":"data:,\xff"}}]}',
    'BAD_DATA_URL',
  ),
  bytes('such a byte in a key', '"a\xff":1', 'UNKNOWN_KEY'),
  bytes('such a byte outside a text', '\xff', 'BAD_JSON'),

  withVersion('3', 'WRONG_TYPE'),
  withVersion('null', 'BAD_VERSION'),
  withVersion('""', 'BAD_VERSION'),
  withVersion('"3.5"', 'BAD_VERSION'),
  withVersion('"v3.5.0"', 'BAD_VERSION'),
  withVersion('" 3.5.0"', 'BAD_VERSION'),
  withVersion('"3.5.0.0"', 'BAD_VERSION'),
  withVersion('"3.5.99999999999999999999"', 'BAD_VERSION'),
  withVersion('"3.5.0-_"', 'BAD_VERSION'),
  withVersion('"03.5.00"'),
  withVersion('"3.5.0+"'),
  withVersion('"3.5.0-"'),
  withVersion('"3.5.0+x"', 'UNKNOWN_VERSION'),
  withVersion('"3.5.1"', 'UNKNOWN_VERSION'),
  withVersion('"3.5.0-experimental"', 'UNKNOWN_VERSION'),
  withVersion('"2.3.0"', 'UNKNOWN_VERSION'),
  withVersion('"3.9.0"', 'UNKNOWN_VERSION'),
  ...(['3.0.0', '3.1.0', '3.2.0', '3.3.0', '3.4.0', '3.5.0'] as const).map((spec) =>
    configOf(spec, 'nothing but a version', {}),
  ),

  config('a text where a number belongs', { storage: { files: [{ path: '/a', mode: '0644' }] } }, 'WRONG_TYPE'),
  raw(
    '420.0 is no integer',
    '{"ignition":{"version":"3.5.0"},"storage":{"files":[{"path":"/a","mode":420.0}]}}',
    'WRONG_TYPE',
  ),
  raw(
    '4e2 is no integer',
    '{"ignition":{"version":"3.5.0"},"storage":{"files":[{"path":"/a","mode":4e2}]}}',
    'WRONG_TYPE',
  ),
  raw('-0 is an integer', '{"ignition":{"version":"3.5.0"},"storage":{"files":[{"path":"/a","mode":-0}]}}'),
  raw(
    '2^63 is too large',
    '{"ignition":{"version":"3.5.0"},"passwd":{"users":[{"name":"a","uid":9223372036854775808}]}}',
    'WRONG_TYPE',
  ),
  config('a number where a flag belongs', { systemd: { units: [{ name: 'a.service', enabled: 1 }] } }, 'WRONG_TYPE'),
  config('an object where a list belongs', { storage: { files: {} } }, 'WRONG_TYPE'),
  config('a list where an object belongs', { storage: [] }, 'WRONG_TYPE'),
  config('a number in a list of texts', { kernelArguments: { shouldExist: [1] } }, 'WRONG_TYPE'),
  config('an unknown key may hold anything', { later: [{ a: 1.5 }] }, 'UNKNOWN_KEY'),

  config('null for a scalar', { storage: { files: [{ path: '/a', mode: null, overwrite: null }] } }),
  config('null for a list', { storage: { files: null } }),
  config('null for a text in a list', { passwd: { users: [{ name: 'a', groups: [null] }] } }),
  config('null for an object', { storage: null }, 'NULL_OBJECT'),
  config('null for a list entry', { storage: { files: [null] } }, 'NULL_OBJECT', 'NO_PATH'),
  config('null for clevis', { storage: { luks: [{ name: 'a', device: '/a', clevis: null }] } }, 'NULL_OBJECT'),
  configOf('3.2.0', 'null for clevis', { storage: { luks: [{ name: 'a', device: '/a', clevis: null }] } }),
  configOf('3.2.0', 'null for a custom pin', {
    storage: { luks: [{ name: 'a', device: '/a', clevis: { custom: null } }] },
  }),

  config(
    'unknown keys at every level',
    { a: 1, storage: { b: 2, files: [{ path: '/a', c: 3, contents: { d: 4 } }] } },
    'UNKNOWN_KEY',
  ),
  config(
    'keys in the wrong case are used and reported',
    { Storage: { FILES: [{ path: 'a' }] } },
    'RELATIVE_PATH',
    'UNKNOWN_KEY',
  ),
  config(
    'a key with a long s is used and reported',
    { ſtorage: { files: [{ path: 'a' }] } },
    'RELATIVE_PATH',
    'UNKNOWN_KEY',
  ),
  config('a key named like a property of every object', { constructor: {}, toString: {} }, 'UNKNOWN_KEY'),
  raw('__proto__ is a key like any other', '{"ignition":{"version":"3.5.0"},"__proto__":{"storage":1}}', 'UNKNOWN_KEY'),
  raw(
    'a repeated key overlays the earlier one',
    '{"ignition":{"version":"3.5.0"},"storage":{"files":[{"path":"/a","mode":1}]},"storage":{"files":[{"mode":5000}]}}',
    'BAD_MODE',
    'SPECIAL_MODE_BITS',
  ),
  raw(
    'a repeated list is cut to its last length',
    '{"ignition":{"version":"3.5.0"},"storage":{"files":[{"path":"/a"},{"path":"b"}],"files":[{"mode":1}]}}',
  ),
  raw('a repeated scalar is the last', '{"ignition":{"version":"1.0.0","version":"3.5.0"}}'),
  raw('null does not undo a required text', '{"ignition":{"version":"3.5.0","version":null}}'),
  raw(
    'null undoes an optional scalar',
    '{"ignition":{"version":"3.5.0"},"storage":{"files":[{"path":"/a","mode":5000,"mode":null}]}}',
  ),

  configOf(
    '3.0.0',
    'keys of later specs are unknown',
    {
      ignition: { proxy: {} },
      kernelArguments: {},
      storage: { luks: 1, files: [{ path: '/a', contents: { httpHeaders: 1 } }] },
    },
    'UNKNOWN_KEY',
  ),
  configOf(
    '3.0.0',
    'a reference has no compression',
    { ignition: { config: { replace: { source: 'data:,', compression: 'xz' } } } },
    'UNKNOWN_KEY',
  ),
  configOf(
    '3.0.0',
    'contents have compression',
    { storage: { files: [{ path: '/a', contents: { compression: 'xz' } }] } },
    'BAD_COMPRESSION',
  ),
  configOf(
    '3.1.0',
    'no luks, resize or shouldExist',
    {
      storage: { luks: [], disks: [{ device: '/d', partitions: [{ number: 1, resize: true }] }] },
      passwd: { users: [{ name: 'a', shouldExist: false }], groups: [{ name: 'a', shouldExist: false }] },
    },
    'UNKNOWN_KEY',
  ),
  configOf('3.2.0', 'no kernel arguments', { kernelArguments: { shouldExist: ['a'] } }, 'UNKNOWN_KEY'),
  configOf(
    '3.3.0',
    'no discard, openOptions or advertisement',
    {
      storage: {
        luks: [
          {
            name: 'a',
            device: '/a',
            discard: true,
            openOptions: ['a'],
            clevis: { tang: [{ url: 'http://a', thumbprint: 'b', advertisement: '{' }] },
          },
        ],
      },
    },
    'UNKNOWN_KEY',
  ),
  configOf(
    '3.4.0',
    'no cex',
    { storage: { luks: [{ name: 'a', device: '/a', cex: { enabled: true } }] } },
    'UNKNOWN_KEY',
  ),

  config('equal files', { storage: { files: [{ path: '/a' }, { path: '/b' }, { path: '/a' }] } }, 'DUPLICATE'),
  config(
    'a file and a directory',
    { storage: { files: [{ path: '/a' }], directories: [{ path: '/a' }] } },
    'DUPLICATE',
  ),
  config(
    'a file and a link',
    { storage: { files: [{ path: '/a' }], links: [{ path: '/a', target: '/b' }] } },
    'DUPLICATE',
  ),
  config(
    'equal kernel arguments across lists',
    { kernelArguments: { shouldExist: ['a'], shouldNotExist: ['a'] } },
    'DUPLICATE',
  ),
  config('equal units', { systemd: { units: [{ name: 'a.service' }, { name: 'a.service' }] } }, 'DUPLICATE'),
  config(
    'equal drop-ins',
    { systemd: { units: [{ name: 'a.service', dropins: [{ name: 'a.conf' }, { name: 'a.conf' }] }] } },
    'DUPLICATE',
  ),
  config(
    'equal users and groups',
    { passwd: { users: [{ name: 'a' }, { name: 'a' }], groups: [{ name: 'b' }, { name: 'b' }] } },
    'DUPLICATE',
  ),
  config('a user and a group of one name', { passwd: { users: [{ name: 'a' }], groups: [{ name: 'a' }] } }),
  config('equal keys', { passwd: { users: [{ name: 'a', sshAuthorizedKeys: ['k', 'k'] }] } }, 'DUPLICATE'),
  config('equal groups of a user', { passwd: { users: [{ name: 'a', groups: ['g', 'g'] }] } }, 'DUPLICATE'),
  config('odd names and ids are not looked at', { passwd: { users: [{ name: '' }, { name: 'A b', uid: -1 }] } }),
  config('equal noProxy', { ignition: { proxy: { noProxy: ['a', 'a'] } } }, 'DUPLICATE'),
  config(
    'equal headers',
    {
      storage: {
        files: [
          {
            path: '/a',
            contents: {
              source: 'http://a',
              httpHeaders: [
                { name: 'a', value: 'b' },
                { name: 'a', value: 'c' },
              ],
            },
          },
        ],
      },
    },
    'DUPLICATE',
  ),
  config('headers that differ in case', {
    storage: {
      files: [
        {
          path: '/a',
          contents: {
            source: 'http://a',
            httpHeaders: [
              { name: 'a', value: 'b' },
              { name: 'A', value: 'c' },
            ],
          },
        },
      ],
    },
  }),
  config(
    'equal references',
    { ignition: { config: { merge: [{ source: 'http://a' }, { source: 'http://a' }] } } },
    'DUPLICATE',
  ),
  config(
    'equal certificate authorities',
    { ignition: { security: { tls: { certificateAuthorities: [{ source: 'http://a' }, { source: 'http://a' }] } } } },
    'DUPLICATE',
  ),
  config('equal disks', { storage: { disks: [{ device: '/d' }, { device: '/d' }] } }, 'DUPLICATE'),
  config(
    'equal arrays',
    {
      storage: {
        raid: [
          { name: 'a', level: 'raid1', devices: ['/a'] },
          { name: 'a', level: 'raid1', devices: ['/a'] },
        ],
      },
    },
    'DUPLICATE',
  ),
  config(
    'equal devices of an array',
    { storage: { raid: [{ name: 'a', level: 'raid1', devices: ['/a', '/a'] }] } },
    'DUPLICATE',
  ),
  config('equal filesystems', { storage: { filesystems: [{ device: '/d' }, { device: '/d' }] } }, 'DUPLICATE'),
  config(
    'equal luks and open options',
    {
      storage: {
        luks: [
          { name: 'a', device: '/a', openOptions: ['o', 'o'] },
          { name: 'a', device: '/b' },
        ],
      },
    },
    'DUPLICATE',
  ),
  config(
    'equal tang servers',
    {
      storage: {
        luks: [
          {
            name: 'a',
            device: '/a',
            clevis: {
              tang: [
                { url: 'http://a', thumbprint: 'b' },
                { url: 'http://a', thumbprint: 'b' },
              ],
            },
          },
        ],
      },
    },
    'DUPLICATE',
  ),
  config('what may repeat', {
    storage: {
      files: [{ path: '/a', append: [{ source: 'data:,a' }, { source: 'data:,a' }] }],
      filesystems: [{ device: '/a', format: 'xfs', options: ['a', 'a'], mountOptions: ['a', 'a'] }],
      raid: [{ name: 'a', level: 'raid1', devices: ['/a'], options: ['a', 'a'] }],
      luks: [{ name: 'a', device: '/a', options: ['a', 'a'] }],
    },
  }),
];
