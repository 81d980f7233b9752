// Disks, arrays, filesystems and encrypted devices.
import * as fc from 'fast-check';
import type { Parts } from './files.ts';
import { paths } from './files.ts';
import type { Odds } from './odds.ts';
import { byDevice, byName, flag, itself, object, over } from './odds.ts';

interface PartitionIdentity {
  readonly number?: number;
  readonly label?: string;
}

export function disks(odds: Odds, { resource }: Parts) {
  const { allowBad, either, list, pick } = odds;
  const device = pick(['/dev/a', '/dev/b', '/dev/c', '/dev/md/d', '/dev/disk/by-label/e'], ['', 'dev', '/dev//a']);
  const guid = either(fc.uuid(), fc.constantFrom('', 'g', '01234567-89AB-CDEF-EDCB-A9876543210'));
  const label = either(over('abcde', 10, 1), fc.oneof(fc.constantFrom('a:b', ''), over('aé', 50, 11)));
  const options = fc.array(fc.constantFrom('-a', '-b', 'c'), { maxLength: 3 });

  const number = fc.integer({ min: 1, max: 6 });
  const size = fc.constantFrom(0, 10, 20);
  const partition = fc.oneof(
    object(
      { number },
      { label, sizeMiB: size, guid, typeGuid: guid, wipePartitionEntry: flag, resize: flag, startMiB: fc.constant(0) },
    ),
    object({ label }, { sizeMiB: size, guid, resize: flag, shouldExist: either(fc.constant(true), flag) }),
    either(object({ number }), object({}, { number: fc.nat(2), shouldExist: fc.constant(false), startMiB: fc.nat(9) })),
    either(object({ number }), object({ number, startMiB: fc.constantFrom(1, 5, 11, 30), sizeMiB: size })),
  );
  const partitionKey = ({ number: at = 0, label: text = '' }: PartitionIdentity) => (at === 0 ? text : at);
  const disk = object({ device }, { wipeTable: flag, partitions: list(partition, partitionKey) });

  const levels = pick(['raid1', 'raid5', '6', 'mirror'], ['raid0', 'linear', '', 'raid9']);
  const devices = either(
    fc.uniqueArray(fc.constantFrom('/dev/a', '/dev/b', '/dev/c'), { minLength: 1 }),
    fc.array(device),
  );
  const raid = object(
    { name: pick(['md0', 'md1', ''], ['a/b']), level: levels, devices },
    { spares: fc.nat(2), options },
  );

  const properties = { path: paths(odds), label, uuid: guid, wipeFilesystem: flag, options, mountOptions: options };
  const format = pick(['ext4', 'btrfs', 'xfs', 'vfat', 'swap'], ['none', 'zfs', '']);
  const filesystem = either(object({ device, format }, properties), object({ device }, properties));

  const lists = {
    disks: list(disk, byDevice, 2),
    raid: list(raid, byName, 2),
    filesystems: list(filesystem, byDevice, 2),
  };

  const url = pick(['http://t1', 'https://t2:99'], ['', 'ftp://t', 'http://%']);
  const tang = object(
    { url, thumbprint: pick(['x'], ['']) },
    { advertisement: pick(['', '{}', '[1,2]'], ['{', 'x', '[1e999]']) },
  );
  const tangs = list(tang, ({ url: at }: { readonly url: string }) => at);
  const pin = fc.constantFrom('tpm2', 'tang', 'sss');
  const custom = either(
    object({ pin, config: fc.constant('{}') }, { needsNetwork: flag }),
    object({}, { pin: fc.constantFrom('x', ''), config: fc.constantFrom('', '{}'), needsNetwork: flag }),
  );
  const clevis = fc.oneof(
    object({}, { tang: tangs, tpm2: flag, threshold: fc.nat(3) }),
    object({ custom }),
    either(fc.constant({}), object({ custom }, { tang: tangs, tpm2: flag })),
  );
  const cex = object({ enabled: either(fc.constant(false), flag) });
  const luks = object(
    { name: pick(['root', 'var', 'data'], ['a/b', '']), device },
    {
      keyFile: resource,
      label,
      uuid: guid,
      options,
      openOptions: list(fc.constantFrom('o', 'p'), itself),
      discard: flag,
      wipeVolume: flag,
      clevis,
      ...(allowBad ? { cex } : {}),
    },
  );
  return { ...lists, luks: list(luks, byName, 2) };
}
