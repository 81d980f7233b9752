// Rules for disks, partitions, arrays and filesystems.
import type { ConfigFinding } from '../problems.ts';
import { finding } from '../problems.ts';
import type { Infer } from '../schema.ts';
import { disk, filesystem, partition, raid, storage } from '../schema.ts';
import type { SpecVersion } from '../spec-version.ts';
import { isAtLeast } from '../spec-version.ts';
import { pathProblem } from './paths.ts';
import { rule } from './rule.ts';

type Disk = Infer<typeof disk>;
type Partition = Infer<typeof partition>;
type Filesystem = Infer<typeof filesystem>;

const guid = /^(?:|[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12})$/;

/** Array levels in all their spellings; those without redundancy cannot use spares. */
const raidLevels: Readonly<Record<string, { readonly spares: boolean }>> = {
  ...Object.fromEntries(['linear', 'raid0', '0', 'stripe'].map((level) => [level, { spares: false }])),
  ...Object.fromEntries(
    ['raid1', '1', 'mirror', 'raid4', '4', 'raid5', '5', 'raid6', '6', 'raid10', '10'].map((level) => [
      level,
      { spares: true },
    ]),
  ),
};

/** Filesystem formats, the longest label each takes, and the spec that brought them. */
const formats: Readonly<Record<string, { readonly labelBytes: number; readonly since: SpecVersion }>> = {
  ext4: { labelBytes: 16, since: '3.0.0' },
  btrfs: { labelBytes: 256, since: '3.0.0' },
  xfs: { labelBytes: 12, since: '3.0.0' },
  swap: { labelBytes: 15, since: '3.0.0' },
  vfat: { labelBytes: 11, since: '3.0.0' },
  none: { labelBytes: Number.POSITIVE_INFINITY, since: '3.3.0' },
};

function* diskHasDevice({ device }: Disk): Iterable<ConfigFinding> {
  const problem = device === '' ? 'DEVICE_REQUIRED' : pathProblem(device);
  if (problem !== undefined) yield finding(problem, ['device']);
}

function* partitionsAreDistinct({ device, partitions = [] }: Disk): Iterable<ConfigFinding> {
  if (device === '') return;
  const numbers = partitions.map(({ number = 0 }) => (number === 0 ? undefined : number));
  const labels = partitions.map(({ label }) => label);
  const number = firstRepeated(numbers);
  if (number !== undefined) yield finding('PARTITION_NUMBERS_COLLIDE', ['partitions', number]);
  const label = firstRepeated(labels);
  if (label !== undefined) yield finding('PARTITION_LABELS_COLLIDE', ['partitions', label]);
}

function firstRepeated(values: readonly unknown[]): number | undefined {
  const seen = new Set<unknown>();
  const index = values.findIndex((value) => {
    if (value === undefined) return false;
    if (seen.has(value)) return true;
    seen.add(value);
    return false;
  });
  return index < 0 ? undefined : index;
}

interface Extent {
  readonly index: number;
  readonly start: number;
  readonly end: number;
}

/** Only what is placed explicitly can be compared: start 0 means any free room. */
function* partitionsDoNotOverlap({ device, partitions = [] }: Disk): Iterable<ConfigFinding> {
  if (device === '') return;
  const extents: Extent[] = partitions.flatMap(({ startMiB = 0, sizeMiB }, index) => {
    if (startMiB === 0 || sizeMiB === undefined) return [];
    return [{ index, start: startMiB, end: sizeMiB === 0 ? startMiB : startMiB + sizeMiB - 1 }];
  });
  for (const one of extents) {
    const other = extents.find((candidate) => candidate !== one && overlap(one, candidate));
    if (other !== undefined) {
      yield finding('PARTITIONS_OVERLAP', ['partitions', other.index]);
      return;
    }
  }
}

function overlap(one: Extent, other: Extent): boolean {
  const startsInside = one.start >= other.start && one.start <= other.end;
  const endsInside = one.end >= other.start && one.end <= other.end;
  return startsInside || endsInside || (one.start < other.start && one.end > other.end);
}

function* absenceNeedsNumbers({ device, partitions = [] }: Disk): Iterable<ConfigFinding> {
  const someAbsent = partitions.some(({ shouldExist }) => shouldExist === false);
  if (device !== '' && someAbsent && partitions.some(({ number = 0 }) => number === 0)) {
    yield finding('NUMBERLESS_WITH_ABSENT', ['partitions']);
  }
}

function* partitionIsIdentified({ number = 0, label }: Partition): Iterable<ConfigFinding> {
  if (number === 0 && label === undefined) yield finding('PARTITION_UNIDENTIFIED', []);
}

function* absentPartitionIsBare(value: Partition): Iterable<ConfigFinding> {
  const { shouldExist, label, typeGuid = '', guid = '', startMiB, sizeMiB } = value;
  if (shouldExist !== false) return;
  if (label !== undefined || typeGuid !== '' || guid !== '' || startMiB !== undefined || sizeMiB !== undefined) {
    yield finding('ABSENT_WITH_PROPERTIES', []);
  }
}

function* partitionLabelFits({ label = '' }: Partition): Iterable<ConfigFinding> {
  if (Buffer.byteLength(label) > 36) yield finding('PARTITION_LABEL_TOO_LONG', ['label']);
  else if (label.includes(':')) yield finding('PARTITION_LABEL_COLON', ['label']);
}

function* guidsAreWellFormed(value: Partition): Iterable<ConfigFinding> {
  for (const name of ['guid', 'typeGuid'] as const) {
    if (!guid.test(value[name] ?? '')) yield finding('BAD_GUID', [name]);
  }
}

function* raidIsComplete({ level = '', devices = [], spares = 0 }: Infer<typeof raid>): Iterable<ConfigFinding> {
  const known = Object.hasOwn(raidLevels, level) ? raidLevels[level] : undefined;
  if (level === '') yield finding('RAID_LEVEL_REQUIRED', ['level']);
  else if (known === undefined) yield finding('UNKNOWN_RAID_LEVEL', ['level']);
  else if (!known.spares && spares !== 0) yield finding('SPARES_UNSUPPORTED', ['level']);

  if (devices.length === 0) yield finding('RAID_DEVICES_REQUIRED', ['devices']);
  for (const [index, device] of devices.entries()) {
    const problem = pathProblem(device);
    if (problem !== undefined) yield finding(problem, ['devices', index]);
  }
}

function* filesystemPathsAreClean({ device, path = '' }: Filesystem): Iterable<ConfigFinding> {
  const deviceProblem = pathProblem(device);
  if (deviceProblem !== undefined) yield finding(deviceProblem, ['device']);
  const problem = path === '' ? undefined : pathProblem(path);
  if (problem !== undefined) yield finding(problem, ['path']);
}

function* formatIsKnown(value: Filesystem, spec: SpecVersion): Iterable<ConfigFinding> {
  const { format = '', path = '', label = '', uuid = '', options = [], mountOptions = [] } = value;
  if (format === '') {
    const says = path !== '' || label !== '' || uuid !== '' || value.wipeFilesystem === true;
    if (says || options.length + mountOptions.length > 0) yield finding('FORMAT_REQUIRED', ['format']);
    if (label !== '') yield finding('LABEL_WITHOUT_FORMAT', ['label']);
    return;
  }
  const known = Object.hasOwn(formats, format) ? formats[format] : undefined;
  if (known === undefined || !isAtLeast(spec, known.since)) yield finding('UNKNOWN_FORMAT', ['format']);
  else if (Buffer.byteLength(label) > known.labelBytes) {
    yield finding('FILESYSTEM_LABEL_TOO_LONG', ['label'], `at most ${known.labelBytes} bytes`);
  }
}

function* filesystemsSparePartitions({ disks = [], filesystems = [] }: Infer<typeof storage>): Iterable<ConfigFinding> {
  const byDevice = new Map(disks.map((disk) => [disk.device, disk]));
  for (const [index, { device, wipeFilesystem }] of filesystems.entries()) {
    const disk = byDevice.get(device);
    if (disk === undefined) continue;
    const path = ['filesystems', index, 'device'];
    if ((disk.partitions ?? []).length > 0) yield finding('FILESYSTEM_OVER_PARTITIONS', path);
    else if (wipeFilesystem !== true && disk.wipeTable === true) yield finding('FILESYSTEM_WIPED', path);
  }
}

export const diskRules = [
  rule(storage, filesystemsSparePartitions),
  rule(disk, diskHasDevice),
  rule(disk, partitionsAreDistinct),
  rule(disk, partitionsDoNotOverlap),
  rule(disk, absenceNeedsNumbers),
  rule(partition, partitionIsIdentified),
  rule(partition, absentPartitionIsBare),
  rule(partition, partitionLabelFits),
  rule(partition, guidsAreWellFormed),
  rule(raid, raidIsComplete),
  rule(filesystem, filesystemPathsAreClean),
  rule(filesystem, formatIsKnown),
];
