// What root inside a machine can change of what it shares with the cache and with other machines: nothing. The images
// of this test are a copy, so that a failure harms nobody's cache.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pauseImage } from '../../src/assets/software-facts.ts';
import { containerdFolder, imageLayersFolder } from '../../src/contract/machine-paths.ts';
import { realHost } from '../../src/host/real/real-host.ts';
import { machinesFolder, nspawnName } from '../../src/platform/local/cluster-folder.ts';
import { machineImage } from '../../src/release/machine-image.ts';
import { cli, hostPicture, inside, list, traces } from './machine-lab.ts';
import { secondsToPod, staticPodIgnition, still } from './static-pod.ts';

const cluster = `e2e-shared-${process.pid}`;
/** On the disk of the cache, and not in a folder that a machine has as its own. */
const folder = join('/var/tmp', cluster);
const seed = join(folder, 'seed');
const before = hostPicture();

/** Name, mode, owner, size, link count and time of change of every file: no change of a file goes unseen. */
function pictureOf(path: string): string {
  return execFileSync('find', [path, '-printf', '%p %m %U %s %n %C@\n'], { encoding: 'utf8', maxBuffer: 1 << 28 });
}

beforeAll(async () => {
  mkdirSync(folder);
  const image = await machineImage(realHost());
  execFileSync('cp', ['--archive', '--reflink=auto', image.containerdSeed ?? '', seed]);
  writeFileSync(join(folder, 'image.json'), JSON.stringify({ ...image, containerdSeed: seed }));
  writeFileSync(join(folder, 'pod.ign'), JSON.stringify(staticPodIgnition({ pods: { still } })));
  const options = ['--image', join(folder, 'image.json'), '--ignition', join(folder, 'pod.ign')];
  await cli('machine', 'create', '--cluster', cluster, ...options, 'a', 'b');
});

afterAll(async () => {
  await cli('machine', 'destroy', '--cluster', cluster, '--all');
  rmSync(folder, { recursive: true });
});

const blobs = `${containerdFolder}/io.containerd.content.v1.content/blobs`;
const snapshots = `${containerdFolder}/io.containerd.snapshotter.v1.overlayfs/snapshots`;
/** Every shared file as a machine sees it. */
const shown = "-type f -printf '%p %m %s %C@\\n'";
const look = `find -L ${blobs} ${shown}; find ${snapshots}/[1-4]/fs/ ${shown}`;
const attack = `exec >/dev/null 2>&1
mount -o remount,rw ${imageLayersFolder}; mount -o remount,bind,rw ${imageLayersFolder}
{ find -L ${blobs} -type f; find ${snapshots}/*/fs/ ${imageLayersFolder} -type f; } > /root/files
xargs -d '\\n' readlink -f < /root/files > /root/real-files
head -20 /root/real-files | while read -r file; do
  ln "$file" ${containerdFolder}/link; rm -f ${containerdFolder}/link; echo evil >> "$file"; touch "$file.evil"
done
for change in 'chmod 777' 'chown 1' 'truncate -s 0' 'rm -f'; do xargs -d '\\n' $change < /root/real-files; done
for file in /usr/bin/zcat /usr/bin/zgrep; do echo evil >> $file; chmod 777 $file; rm $file; done
true`;

test('root inside a machine cannot change what machines share, by any way that leads there', async () => {
  const { rootFolder } = await machineImage(realHost());
  const [seedBefore, rootBefore] = [pictureOf(seed), pictureOf(rootFolder)];
  const seenByOther = await inside(cluster, 'b', look);
  await inside(cluster, 'a', attack);
  expect(Number(await inside(cluster, 'a', 'wc -l < /root/files'))).toBeGreaterThan(500);
  expect(await inside(cluster, 'b', look)).toBe(seenByOther);
  expect(pictureOf(rootFolder)).toBe(rootBefore);
  expect(pictureOf(seed)).toBe(seedBefore);
});

test('no folder or file of the host is mounted in a machine but its own', async () => {
  const rows = (await inside(cluster, 'b', 'cat /proc/self/mountinfo')).trim().split('\n');
  const disk = rows.filter((row) => / - (?:ext4|xfs|btrfs) /.test(row)).map((row) => row.split(' ')[3] ?? '');
  const own = join(machinesFolder(cluster), 'b');
  const incoming = `/run/systemd/nspawn/propagate/${nspawnName(cluster, 'b')}`;
  expect(disk.filter((path) => !path.includes(`${own}/`) && !path.endsWith(incoming))).toEqual([]);
  expect(disk.length).toBeGreaterThanOrEqual(3);
});

test('containerd runs pods from shared images, removes one, and unpacks it again as its own', async () => {
  expect(await secondsToPod(cluster, 'b')).toBeLessThan(10);
  const seedBefore = pictureOf(seed);
  const ctr = 'ctr --namespace k8s.io';
  // --local: an export through containerd's transfer service ends before all of the archive is written.
  const script = `set -eu
digest=$(${ctr} images list "name==${pauseImage}" | awk 'NR == 2 { print $3 }')
${ctr} images export --local /root/pause.tar ${pauseImage}
systemctl stop kubelet
${ctr} tasks list --quiet | xargs -r -n1 ${ctr} tasks kill --signal KILL; sleep 1
${ctr} containers list --quiet | xargs -r -n1 ${ctr} containers delete
${ctr} images list | awk -v digest=$digest '$3 == digest { print $1 }' | xargs ${ctr} images remove --sync
${ctr} images list --quiet | grep -c pause || true
${ctr} images import --digests /root/pause.tar > /dev/null
${ctr} images list --quiet | grep -c pause
find ${containerdFolder}/io.containerd.snapshotter.v1.overlayfs/snapshots -name pause -type f | wc -l`;
  const [removed, back, unpacked] = (await inside(cluster, 'b', script)).trim().split('\n').slice(-3).map(Number);
  expect({ removed, isBack: (back ?? 0) > 0, unpacked }).toEqual({ removed: 0, isBack: true, unpacked: 1 });
  await cli('machine', 'reboot', '--cluster', cluster, 'b');
  expect(await secondsToPod(cluster, 'b')).toBeLessThan(10);
  expect(pictureOf(seed)).toBe(seedBefore);
});

test('the disk use of a machine is what it does not share', async () => {
  const text = await cli('machine', 'list', '--disk', '-o', 'json', '--cluster', cluster);
  const used = (JSON.parse(text) as { diskBytes: number }[]).map(({ diskBytes }) => diskBytes / 1e6);
  expect(Math.min(...used)).toBeGreaterThan(1);
  expect(Math.max(...used)).toBeLessThan(150);
  expect((await list(cluster)).some((machine) => 'diskBytes' in machine)).toBe(false);
});

test('destroy leaves nothing of it, and the images as they were', async () => {
  const seedBefore = pictureOf(seed);
  await cli('machine', 'destroy', '--cluster', cluster, '--all');
  expect(traces(before, hostPicture())).toEqual([]);
  expect(pictureOf(seed)).toBe(seedBefore);
  expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(seed);
});
