import { describe, expect, test } from 'vitest';
import { cgroupMounts, fileSystemOf, parseAvailableMemory, parseCapabilities, parseMounts } from './detected-host.ts';

const mountinfo = `21 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
30 25 0:26 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
38 25 0:34 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,xattr,name=systemd
39 25 0:35 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
41 21 0:40 / /var/lib rw - overlay overlay rw,lowerdir=/a,upperdir=/b
42 21 8:1 / /mnt/a\\040b rw shared:1 master:2 - xfs /dev/sda1 rw
`;

describe('what the kernel says', () => {
  test('about mounts is read with its escapes and optional fields', () => {
    expect(parseMounts(mountinfo).at(-1)).toEqual({ path: '/mnt/a b', type: 'xfs', options: ['rw'] });
  });

  test('about control groups keeps version 1 and 2 apart', () => {
    expect(cgroupMounts(parseMounts(mountinfo), 'hugetlb misc\n')).toEqual([
      { path: '/sys/fs/cgroup/cpu', version: 1, controllers: ['cpu'] },
      { path: '/sys/fs/cgroup/systemd', version: 1, controllers: ['name=systemd'] },
      { path: '/sys/fs/cgroup/unified', version: 2, controllers: ['hugetlb', 'misc'] },
    ]);
  });

  test('about the file system of a folder is that of the nearest mount above', () => {
    const mounts = parseMounts(mountinfo);
    expect(fileSystemOf(mounts, '/var/lib/firstlight')).toBe('overlay');
    expect(fileSystemOf(mounts, '/var/library')).toBe('ext4');
    expect(fileSystemOf(mounts, '/')).toBe('ext4');
  });

  test('about capabilities is a bit mask', () => {
    expect(parseCapabilities('Name:\tx\nCapEff:\t000001fffeffffff\n')).toEqual([
      'NET_ADMIN',
      'SYS_CHROOT',
      'SYS_ADMIN',
      'MKNOD',
    ]);
    expect(parseCapabilities('CapEff:\t000001ffffffffff\n')).toContain('SYS_RESOURCE');
    expect(parseCapabilities('')).toEqual([]);
  });

  test('about memory is in kibibytes', () => {
    expect(parseAvailableMemory('MemTotal: 9 kB\nMemAvailable:   1000 kB\n')).toBe(1_024_000);
  });
});
