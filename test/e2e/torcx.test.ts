// The bootstrapper on real machines: its unit, the kubelet's gate and the release's kubelet under a real systemd, a
// bucket that is down at first, and GnuPG's signature on what it serves. Two machines go through it side by side: one
// runs the right docker already, the other must reboot into it.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { programNames } from '../../src/torcx/program-names.ts';
import { openGnupg } from '../oracle/torcx/gnupg.ts';
import { cli, eventually, inside, makeCa, serveTls, type TestServer, temporaryFolder } from './machine-lab.ts';
import {
  chosenDocker,
  expectedKubeletEnv,
  makeBucket,
  osVersion,
  type TestBucket,
  torcxIgnition,
} from './torcx-node.ts';

const cluster = `e2e-torcx-${process.pid}`;
const bucketName = `switch.${cluster}.firstlight.test`;
const bucketUrl = `https://${bucketName}:8443`;
const kubelet = 'kubelet.service';
const bootstrap = 'k8s-node-bootstrap.service';
/** What each machine's OS brings. */
const machines = { ready: chosenDocker, outdated: '1.12' } as const;
type Name = keyof typeof machines;
const names = Object.keys(machines) as Name[];

const folder = temporaryFolder();
const ca = makeCa(folder);
let bucket: TestBucket;
let server: TestServer | undefined;

beforeAll(async () => {
  using gnupg = openGnupg();
  const key = gnupg.makeKey('publisher');
  bucket = makeBucket(folder, bucketUrl, (content) => gnupg.sign(key, content));
  const shared = { bucketUrl, bucketAuthority: ca.certificate, publicKey: gnupg.exportArmored(key) };
  for (const name of names) {
    const path = join(folder, `${name}.ign`);
    writeFileSync(path, JSON.stringify(torcxIgnition({ ...shared, runningDocker: machines[name] })));
    await cli('machine', 'create', '--cluster', cluster, '--ignition', path, name);
  }
});

afterAll(async () => {
  server?.stop();
  await cli('machine', 'destroy', '--all', '--cluster', cluster);
  rmSync(folder, { recursive: true });
});

interface JournalEntry {
  readonly boot: number;
  /** The unit that wrote it, or that systemd says it about. */
  readonly unit: string;
  readonly program: string;
  readonly text: string;
}

/** What the journal has about the two units, over all boots, oldest first. */
async function journal(machine: Name): Promise<readonly JournalEntry[]> {
  const text = await inside(cluster, machine, `journalctl --no-pager -o json -u ${kubelet} -u ${bootstrap}`);
  const entries = text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, string>);
  const boots = [...new Set(entries.map((entry) => entry['_BOOT_ID']))];
  return entries.map((entry) => ({
    boot: boots.indexOf(entry['_BOOT_ID']) + 1,
    unit: entry['UNIT'] ?? entry['_SYSTEMD_UNIT'] ?? '',
    program: entry['_COMM'] ?? '',
    text: String(entry['MESSAGE']),
  }));
}

/** Where a line of systemd about a unit is, or -1. */
function saidAbout(entries: readonly JournalEntry[], unit: string, text: RegExp): number {
  return entries.findIndex((entry) => entry.unit === unit && entry.program === 'systemd' && text.test(entry.text));
}

/** Until the kubelet reports that it works; then the journal. */
async function whenKubeletWorks(machine: Name, boot: number): Promise<readonly JournalEntry[]> {
  return eventually(`the kubelet of ${machine}`, 120, async () => {
    // A machine that goes down cannot be asked.
    const entries = await journal(machine).catch(() => []);
    const isUp = entries.some(
      (entry) => entry.boot === boot && entry.unit === kubelet && entry.text.startsWith('Started '),
    );
    return isUp ? entries : undefined;
  });
}

const bucketRequests = (machine: Name): readonly string[] => {
  const address = `10.99.0.${10 + names.indexOf(machine)} `;
  return (server?.requests() ?? [])
    .filter((line) => line.startsWith(address))
    .map((line) => line.slice(address.length));
};

describe('while the bucket is down', () => {
  test.each(names)('%s says what it waits for and its kubelet does not run', async (machine) => {
    const entries = await eventually('a failed run', 60, async () => {
      const seen = await journal(machine);
      return saidAbout(seen, kubelet, /^Failed to start /) === -1 ? undefined : seen;
    });
    const told = entries.filter(({ unit }) => unit === bootstrap).map(({ text }) => text);
    const list = `${bucketUrl}/manifests/amd64-usr/${osVersion}/torcx_manifest.json`;
    expect(told).toContainEqual(expect.stringMatching(new RegExp(`${list}.*refused.*; try 2 in \\d`)));
    expect(told).toContainEqual(expect.stringContaining('(TORCX_BUCKET)'));
    expect(entries.filter(({ program }) => program === 'kubelet')).toEqual([]);
    const seen = await inside(
      cluster,
      machine,
      `pgrep -x kubelet; ls /etc/kubernetes/kubelet.env; systemctl show --property=ActiveState ${bootstrap}; exit 0`,
    );
    expect(seen).toBe('ActiveState=activating\n');
  });
});

describe('when the bucket is up', () => {
  beforeAll(async () => {
    const place = { address: '10.99.0.1', port: 8443, proxy: false };
    const { answers } = bucket;
    server = await serveTls(`firstlight.${cluster}`, { ...place, ...ca.issue(bucketName), answers });
  });

  test('a machine with the right docker starts its kubelet after the next run, and not before', async () => {
    const entries = await whenKubeletWorks('ready', 1);
    const again = saidAbout(entries, bootstrap, /Scheduled restart job/);
    const finished = saidAbout(entries, bootstrap, /^Finished /);
    const firstLife = entries.findIndex(({ program }) => program === 'kubelet');
    const started = saidAbout(entries, kubelet, /^Started /);
    expect(again).toBeGreaterThan(0);
    expect([again, finished, firstLife, started]).toEqual([again, finished, firstLife, started].sort((a, b) => a - b));
    expect(entries.map(({ boot }) => boot).every((boot) => boot === 1)).toBe(true);
  });

  test('a machine with another docker reboots first, and its kubelet never runs before that', async () => {
    const entries = await whenKubeletWorks('outdated', 2);
    const first = entries.filter(({ boot }) => boot === 1);
    expect(first.map(({ text }) => text)).toContainEqual(
      expect.stringContaining(`reboot: docker ${chosenDocker} follows ${machines.outdated}`),
    );
    expect(first.filter(({ program }) => program === 'kubelet')).toEqual([]);
    const data = 'ls /var/lib/docker 2>/dev/null || echo cleared';
    expect(await inside(cluster, 'outdated', `cat /run/torcx/profile.json; ${data}`)).toMatch(
      new RegExp(`"${chosenDocker}".*cleared\n$`),
    );
    expect(await inside(cluster, 'ready', data)).toBe('old\n');
  });

  test.each(names)('%s has the archive, a whole kubelet.env, and a kubelet that read it', async (machine) => {
    const seen = await inside(
      cluster,
      machine,
      [
        `cd /var/lib/torcx/store/${osVersion}; sha512sum *`,
        'cat /etc/torcx/next-profile /etc/kubernetes/kubelet.env',
        'ls -A /etc/kubernetes; [ ! -e /run/firstlight/torcx-reboot-owed ] || echo owed',
        `pid=$(systemctl show --value --property=MainPID ${kubelet})`,
        `tr '\\0' '\\n' < /proc/$pid/environ | grep ^KUBELET_ | sort`,
        `tr '\\0' '\\n' < /proc/$pid/cmdline | tail -n 2`,
      ].join('; '),
    );
    expect(seen).toBe(
      `${bucket.imageDigest}  docker:${chosenDocker}.torcx.tgz\ntectonic\n${expectedKubeletEnv}` +
        'installer\nkubelet-configuration.yaml\nkubelet.env\nmanifests\n' +
        'KUBELET_EXTRA_ARGS=--v=1 --max-pods=42\nKUBELET_IMAGE_TAG=v1.8.4_coreos.0\n' +
        'KUBELET_IMAGE_URL=quay.io/coreos/hyperkube\n--v=1\n--max-pods=42\n',
    );
    expect(bucketRequests(machine)).toEqual(Object.keys(bucket.answers));
  });
});

describe('a machine that is prepared', () => {
  test('does not run the bootstrapper again when it reboots', async () => {
    const before = bucketRequests('ready');
    await cli('machine', 'reboot', '--cluster', cluster, 'ready');
    await whenKubeletWorks('ready', 2);
    for (const machine of names) {
      const said = (await journal(machine)).filter(({ boot, unit }) => boot === 2 && unit === bootstrap);
      expect(said.map(({ text }) => text)).toEqual([expect.stringMatching(/was skipped because .*condition/)]);
    }
    expect(bucketRequests('ready')).toEqual(before);
  });

  test('has the program under the names of the original, too', async () => {
    for (const [name, words] of Object.entries(programNames)) {
      expect(await inside(cluster, 'ready', `${name} --help`)).toContain(`Usage: firstlight ${words.join(' ')} `);
    }
    expect(
      await inside(cluster, 'ready', 'tectonic-torcx-bootstrap --upgrade-os=false --torcx-skip-setup --dry-run'),
    ).toContain('1. write /etc/kubernetes/kubelet.env');
  });

  test('keeps its kubelet down while a reboot is owed, though kubelet.env is there', async () => {
    server?.stop();
    const script = `touch /run/firstlight/torcx-reboot-owed
      systemctl restart ${kubelet} 2>/dev/null; echo $?; pgrep -x kubelet; ls /etc/kubernetes/kubelet.env`;
    expect(await inside(cluster, 'ready', script)).toBe('1\n/etc/kubernetes/kubelet.env\n');
    const [, second = []] = Map.groupBy(await journal('ready'), ({ boot }) => boot).values();
    expect(second.filter(({ unit }) => unit === bootstrap).map(({ text }) => text)).toContainEqual(
      expect.stringContaining('(TORCX_BUCKET)'),
    );
  });
});
