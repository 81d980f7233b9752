// Files, directories, links, disks, arrays, filesystems.
import type { ProblemCode } from '../../../src/ignition/problems.ts';
import type { Case } from './case.ts';
import { config, configOf } from './case.ts';

const file = (title: string, entry: object, ...codes: ProblemCode[]) =>
  config(title, { storage: { files: [{ path: '/a', ...entry }] } }, ...codes);
const partitions = (title: string, list: readonly object[], ...codes: ProblemCode[]) =>
  config(title, { storage: { disks: [{ device: '/dev/d', partitions: list }] } }, ...codes);
const raid = (title: string, entry: object, ...codes: ProblemCode[]) =>
  config(title, { storage: { raid: [{ name: 'a', level: 'raid1', devices: ['/a', '/b'], ...entry }] } }, ...codes);
const filesystem = (title: string, entry: object, ...codes: ProblemCode[]) =>
  config(title, { storage: { filesystems: [{ device: '/d', ...entry }] } }, ...codes);
const guid = '01234567-89ab-CDEF-0123-456789abcdef';

const fileCases: readonly Case[] = [
  ...['/', '/a', '/a/b', '/a b', '/é', '/...'].map((path) => file(`path ${path}`, { path })),
  ...['a', './a', ' /a'].map((path) => file(`path ${path}`, { path }, 'RELATIVE_PATH')),
  ...['//', '/a/', '/a//b', '/a/./b', '/a/../b', '/..', '/.'].map((path) =>
    file(`path ${path}`, { path }, 'DIRTY_PATH'),
  ),
  file('no path', { path: '' }, 'NO_PATH'),
  config(
    'directories and links need paths too',
    { storage: { directories: [{}], links: [{ target: 'a' }] } },
    'NO_PATH',
    'DUPLICATE',
  ),
  ...[0, 0o644, 0o777].map((mode) => file(`mode ${mode}`, { mode })),
  ...[-4096, 0o10000].map((mode) => file(`mode ${mode}`, { mode }, 'BAD_MODE')),
  file('mode -1', { mode: -1 }, 'BAD_MODE', 'SPECIAL_MODE_BITS'),
  ...[0o1777, 0o2755, 0o4755, 0o7777].map((mode) => file(`mode ${mode}`, { mode }, 'SPECIAL_MODE_BITS')),
  config(
    'a sticky directory',
    {
      storage: {
        directories: [
          { path: '/a', mode: 0o1777 },
          { path: '/b', mode: 99999 },
        ],
      },
    },
    'SPECIAL_MODE_BITS',
    'BAD_MODE',
  ),
  configOf(
    '3.0.0',
    'special bits never worked',
    { storage: { files: [{ path: '/a', mode: 0o4755 }] } },
    'SPECIAL_MODE_BITS',
  ),
  file('overwrite with contents', { overwrite: true, contents: { source: 'data:,' } }),
  file('overwrite with empty contents', { overwrite: true, contents: { source: '' } }),
  file('overwrite without contents', { overwrite: true }, 'OVERWRITE_WITHOUT_SOURCE'),
  file('no overwrite, no contents', { overwrite: false }),
  config('directories may overwrite', { storage: { directories: [{ path: '/a', overwrite: true }] } }),
  file('owners', { user: { id: 0 }, group: { name: 'a' } }),
  file('an empty name is no name', { user: { id: 0, name: '' } }),
  file('owner by id and name', { user: { id: 0, name: 'a' } }, 'ID_AND_NAME'),
  file('group by id and name', { group: { id: 0, name: 'a' } }, 'ID_AND_NAME'),

  config(
    'a link without a target',
    { storage: { links: [{ path: '/a' }, { path: '/b', target: '' }] } },
    'TARGET_REQUIRED',
  ),
  configOf('3.2.0', 'a link without a target', { storage: { links: [{ path: '/a' }] } }),
  config(
    'a file below a link',
    { storage: { links: [{ path: '/a', target: '/b' }], files: [{ path: '/a/b/c' }, { path: '/ab' }] } },
    'BELOW_LINK',
  ),
  config(
    'a directory below a hard link',
    { storage: { links: [{ path: '/a', target: '/b', hard: true }], directories: [{ path: '/a/b' }] } },
    'BELOW_LINK',
  ),
  config(
    'a link below a link',
    {
      storage: {
        links: [
          { path: '/a', target: '/b' },
          { path: '/a/b', target: '/c' },
        ],
      },
    },
    'BELOW_LINK',
  ),
  config('a link at the root', { storage: { links: [{ path: '/', target: '/b' }], files: [{ path: '/a' }] } }),
  config(
    'a file below a nameless link',
    { storage: { links: [{ path: '', target: '/b' }], files: [{ path: '/a' }] } },
    'NO_PATH',
    'BELOW_LINK',
  ),
  config(
    'a hard link to a directory',
    { storage: { links: [{ path: '/a', target: '/d/.', hard: true }], directories: [{ path: '/d' }] } },
    'HARD_LINK_TO_DIRECTORY',
  ),
  config(
    'a relative hard link starts at the link itself',
    { storage: { links: [{ path: '/a/l', target: '../d', hard: true }], directories: [{ path: '/a/d' }] } },
    'HARD_LINK_TO_DIRECTORY',
  ),
  config('a symbolic link to a directory', {
    storage: { links: [{ path: '/a', target: '/d' }], directories: [{ path: '/d' }] },
  }),
  configOf('3.2.0', 'a hard link without a target is its own', { storage: { links: [{ path: '/a', hard: true }] } }),
  config(
    'a hard link with an owner',
    { storage: { links: [{ path: '/a', target: '/b', hard: true, user: { id: 1 }, group: { name: '' } }] } },
    'HARD_LINK_OWNER',
  ),
  config('a symbolic link with an owner', { storage: { links: [{ path: '/a', target: '/b', user: { id: 1 } }] } }),

  config(
    'the file of a unit',
    {
      storage: { files: [{ path: '/etc/systemd/system/a.service' }] },
      systemd: { units: [{ name: 'a.service', contents: '[Unit]' }] },
    },
    'PATH_OF_UNIT',
  ),
  config(
    'the link of a unit',
    {
      storage: { links: [{ path: '/etc/systemd/system/a.service', target: 'b' }] },
      systemd: { units: [{ name: 'a.service', contents: '[Unit]' }] },
    },
    'PATH_OF_UNIT',
  ),
  config(
    'the directory of a drop-in',
    {
      storage: { directories: [{ path: '/etc/systemd/system/a.service.d/b.conf' }] },
      systemd: { units: [{ name: 'a.service', dropins: [{ name: 'b.conf', contents: '[Unit]' }] }] },
    },
    'PATH_OF_UNIT',
  ),
  config('a unit without contents writes nothing', {
    storage: { files: [{ path: '/etc/systemd/system/a.service' }] },
    systemd: { units: [{ name: 'a.service', contents: '', dropins: [{ name: 'b.conf' }] }] },
  }),
];

const diskCases: readonly Case[] = [
  config('a disk', { storage: { disks: [{ device: '/dev/d', wipeTable: true }] } }),
  config(
    'a disk without a device',
    { storage: { disks: [{ device: '', partitions: [{ number: 1 }, { number: 1 }] }] } },
    'DEVICE_REQUIRED',
    'DUPLICATE',
  ),
  config('a disk with a relative device', { storage: { disks: [{ device: 'd' }] } }, 'RELATIVE_PATH'),
  partitions('partitions', [{ number: 1, label: 'a', sizeMiB: 10, startMiB: 1, guid, typeGuid: '' }, { label: 'b' }]),
  partitions('a nameless partition', [{}], 'PARTITION_UNIDENTIFIED'),
  partitions('two nameless partitions', [{ number: 0 }, {}], 'PARTITION_UNIDENTIFIED', 'DUPLICATE'),
  partitions('equal numbers', [{ number: 1 }, { number: 1 }], 'PARTITION_NUMBERS_COLLIDE', 'DUPLICATE'),
  partitions(
    'equal labels',
    [
      { number: 1, label: 'a' },
      { number: 2, label: 'a' },
    ],
    'PARTITION_LABELS_COLLIDE',
  ),
  partitions('equal labels without numbers', [{ label: 'a' }, { label: 'a' }], 'PARTITION_LABELS_COLLIDE', 'DUPLICATE'),
  partitions('a negative number', [{ number: -1 }]),
  partitions('neighbours', [
    { number: 1, startMiB: 1, sizeMiB: 10 },
    { number: 2, startMiB: 11, sizeMiB: 10 },
  ]),
  partitions(
    'an overlap at the start',
    [
      { number: 1, startMiB: 1, sizeMiB: 10 },
      { number: 2, startMiB: 10, sizeMiB: 10 },
    ],
    'PARTITIONS_OVERLAP',
  ),
  partitions(
    'one within the other',
    [
      { number: 1, startMiB: 1, sizeMiB: 100 },
      { number: 2, startMiB: 10, sizeMiB: 10 },
    ],
    'PARTITIONS_OVERLAP',
  ),
  partitions(
    'size 0 is compared by its start',
    [
      { number: 1, startMiB: 5, sizeMiB: 0 },
      { number: 2, startMiB: 1, sizeMiB: 10 },
    ],
    'PARTITIONS_OVERLAP',
  ),
  partitions('start 0 is not compared', [
    { number: 1, startMiB: 0, sizeMiB: 10 },
    { number: 2, startMiB: 1, sizeMiB: 10 },
  ]),
  partitions('a partition to be removed', [{ number: 1, shouldExist: false, guid: '', typeGuid: '' }, { number: 2 }]),
  partitions(
    'a partition to be removed, with a size',
    [{ number: 1, shouldExist: false, sizeMiB: 0 }],
    'ABSENT_WITH_PROPERTIES',
  ),
  partitions(
    'a partition to be removed, with a label',
    [{ number: 1, shouldExist: false, label: '' }],
    'ABSENT_WITH_PROPERTIES',
  ),
  partitions(
    'removal and a numberless partition',
    [{ number: 1, shouldExist: false }, { label: 'a' }],
    'NUMBERLESS_WITH_ABSENT',
  ),
  partitions('a label of 36 bytes', [{ label: 'a'.repeat(36) }]),
  partitions('a label of 38 bytes', [{ label: 'é'.repeat(19) }], 'PARTITION_LABEL_TOO_LONG'),
  partitions('a label with a colon', [{ label: 'a:b' }], 'PARTITION_LABEL_COLON'),
  partitions('bad GUIDs', [{ number: 1, guid: guid.slice(1), typeGuid: guid.replace('0', 'g') }], 'BAD_GUID'),
  partitions('a GUID and a newline', [{ number: 1, guid: `${guid}\n` }], 'BAD_GUID'),

  ...[
    'linear',
    'raid0',
    '0',
    'stripe',
    'raid1',
    '1',
    'mirror',
    'raid4',
    '4',
    'raid5',
    '5',
    'raid6',
    '6',
    'raid10',
    '10',
  ].map((level) => raid(`level ${level}`, { level })),
  raid('an unknown level', { level: 'raid2' }, 'UNKNOWN_RAID_LEVEL'),
  raid('a level named like a property', { level: 'constructor' }, 'UNKNOWN_RAID_LEVEL'),
  raid('no level', { level: null }, 'RAID_LEVEL_REQUIRED'),
  configOf('3.0.0', 'no level', { storage: { raid: [{ name: 'a', devices: ['/a'] }] } }, 'RAID_LEVEL_REQUIRED'),
  raid('no devices', { devices: [] }, 'RAID_DEVICES_REQUIRED'),
  raid('bad devices', { devices: ['a', '', '/b/'] }, 'RELATIVE_PATH', 'NO_PATH', 'DIRTY_PATH'),
  raid('spares', { spares: 1 }),
  raid('spares without redundancy', { level: 'stripe', spares: 1 }, 'SPARES_UNSUPPORTED'),
  raid('no spares without redundancy', { level: 'linear', spares: 0 }),
  raid('the name is not looked at', { name: '' }),

  filesystem('nothing said', {}),
  filesystem('everything said', {
    format: 'ext4',
    path: '/x',
    label: 'a',
    uuid: 'b',
    wipeFilesystem: true,
    options: ['a'],
    mountOptions: ['b'],
  }),
  ...['ext4', 'btrfs', 'xfs', 'swap', 'vfat', 'none'].map((format) => filesystem(`format ${format}`, { format })),
  filesystem('an unknown format', { format: 'zfs', label: 'a'.repeat(300) }, 'UNKNOWN_FORMAT'),
  configOf(
    '3.2.0',
    'no format none yet',
    { storage: { filesystems: [{ device: '/d', format: 'none' }] } },
    'UNKNOWN_FORMAT',
  ),
  ...[{ path: '/x' }, { uuid: 'a' }, { wipeFilesystem: true }, { options: ['a'] }, { mountOptions: ['a'] }].map(
    (entry) => filesystem(`${Object.keys(entry)[0]} without a format`, entry, 'FORMAT_REQUIRED'),
  ),
  filesystem('empty properties without a format', {
    path: '',
    uuid: '',
    label: '',
    wipeFilesystem: false,
    options: [],
  }),
  filesystem('a label without a format', { format: '', label: 'a' }, 'FORMAT_REQUIRED', 'LABEL_WITHOUT_FORMAT'),
  ...(
    [
      ['ext4', 16],
      ['btrfs', 256],
      ['xfs', 12],
      ['swap', 15],
      ['vfat', 11],
    ] as const
  ).flatMap(([format, limit]) => [
    filesystem(`the longest label of ${format}`, { format, label: 'a'.repeat(limit) }),
    filesystem(`a label too long for ${format}`, { format, label: 'a'.repeat(limit + 1) }, 'FILESYSTEM_LABEL_TOO_LONG'),
  ]),
  filesystem('bad paths', { format: 'xfs', device: '', path: 'a' }, 'NO_PATH', 'RELATIVE_PATH'),
  config(
    'a filesystem on a partitioned disk',
    {
      storage: {
        disks: [{ device: '/d', wipeTable: true, partitions: [{ number: 1 }] }],
        filesystems: [{ device: '/d' }],
      },
    },
    'FILESYSTEM_OVER_PARTITIONS',
  ),
  config(
    'a filesystem on a wiped disk',
    { storage: { disks: [{ device: '/d', wipeTable: true }], filesystems: [{ device: '/d' }] } },
    'FILESYSTEM_WIPED',
  ),
  config('a filesystem that is wiped anyway', {
    storage: {
      disks: [{ device: '/d', wipeTable: true }],
      filesystems: [{ device: '/d', format: 'xfs', wipeFilesystem: true }],
    },
  }),
];

export const storageCases: readonly Case[] = [...fileCases, ...diskCases];
