// Six faults, one after the other on the only master of one small cluster that is being made. Each time the same command
// must end by itself with exit code 5 and name the fault first; cured of all of them, the cluster becomes complete. The
// first three take less than a minute and run always, the others in long runs.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addressOf } from './fire/etcd-machines.ts';
import { bundlesIn, secretsIn, secretsOfAssets, type UnpackedBundle, unpackBundle } from './log-bundle.ts';
import { lookAsDocumented, makeSshKey, readLogs, refuseOtherHostKey } from './looking/bootstrap-machine.ts';
import {
  blockPort,
  bringImage,
  changePointer,
  type FaultyMachine,
  fillDisk,
  findNames,
  freeDisk,
  loseImage,
  loseNames,
  otherToken,
  setClockAhead,
  setClockRight,
  unblockPorts,
} from './machine-faults.ts';
import { type CliOutcome, cli, eventually, inside, startCli, temporaryFolder } from './machine-lab.ts';

const folder = temporaryFolder();
const dir = join(folder, 'cluster');
let master: FaultyMachine;
const isLong = process.env['FIRSTLIGHT_LONG'] === '1';

const config = (sshKey: string): string => `apiVersion: v1
metadata: { name: stalls }
baseDomain: firstlight.test
controlPlane: { replicas: 1 }
compute: [{ name: worker, replicas: 1 }]
sshKey: ${sshKey}
`;

/** The bundle of the first failure. */
let failed: UnpackedBundle | undefined;
let last: ReturnType<typeof startCli> | undefined;

function createCluster(...more: readonly string[]): Promise<CliOutcome> {
  last = startCli(['create', 'cluster', '--dir', dir, '--stall-after', '5', ...more]);
  return last.outcome;
}

/** The bundles of the folder; gone when they were looked at. */
function takeBundles(): readonly UnpackedBundle[] {
  return bundlesIn(dir).map((path) => {
    const bundle = unpackBundle(path, folder);
    rmSync(path);
    return bundle;
  });
}

/** The first reason on the screen, after the exit code was seen to be that of a failed bootstrap. */
async function stalledBy(outcome: Promise<CliOutcome>): Promise<string> {
  const { code, stderr } = await outcome;
  const screen = stderr.slice(stderr.indexOf('nothing has moved for'));
  expect(code, stderr).toBe(5);
  expect(screen).toMatch(/^ +seen {3}\S/m);
  expect(screen).toMatch(/^ +next {3}firstlight \S/m);
  return /likely 1\. (.*)/.exec(screen)?.[1] ?? screen;
}

beforeAll(async () => {
  mkdirSync(dir);
  writeFileSync(join(dir, 'install-config.yaml'), config(makeSshKey(folder)));
  await cli('create', 'ignition-configs', '--dir', dir);
  const metadata = JSON.parse(readFileSync(join(dir, 'metadata.json'), 'utf8')) as { readonly infraID: string };
  const machine = 'master-0';
  master = { cluster: metadata.infraID.toLowerCase(), machine, address: addressOf(dir, machine) };
});

afterAll(async () => {
  // Still there only when a test failed before it was waited for.
  last?.child.kill('SIGTERM');
  await last?.outcome;
  await startCli(['destroy', 'cluster', '--dir', dir]).outcome;
  rmSync(folder, { recursive: true, force: true });
});

const configServerPort = 22_623;

async function untilEntered(): Promise<void> {
  await eventually('that a command can be run in the master', 30, async () =>
    inside(master.cluster, master.machine, 'true').catch(() => undefined),
  );
}

/**
 * Ignition reads resolv.conf again only five seconds after the last time: until then it still finds the server. The file
 * is there from Ignition's first attempt on, which on a slow host is later than the first command that can be run.
 */
async function untilNamesAreMissed(): Promise<void> {
  await eventually('that Ignition misses the names', 30, async () => {
    const status = await inside(master.cluster, master.machine, 'cat /var/lib/firstlight/first-boot.json || true');
    return /"reason":"lookup /.test(status) ? true : undefined;
  });
}

async function bundleOfStopped(): Promise<void> {
  const said = await cli('gather', 'bootstrap', '--timeout', '60', '--dir', dir, '-o', 'json');
  const { machines } = JSON.parse(said) as { readonly machines: readonly { name: string; look: string }[] };
  expect(machines).toMatchObject([
    { name: 'bootstrap', look: 'inside' },
    { name: 'master-0', look: 'its disk' },
  ]);
  const [bundle] = takeBundles();
  expect(bundle?.get('control-plane/master-0/journals/journal.log')).toContain('master-0 systemd');
  expect(bundle?.get('diagnosis.txt')).toContain('master-0 does not run');
}

const machineVerb = async (verb: string, ...more: readonly string[]): Promise<string> =>
  cli('machine', verb, '--dir', dir, ...more, master.machine);

describe('a stall is explained by its fault:', () => {
  test('api-int does not resolve on a master', async () => {
    const outcome = createCluster();
    // Long before the machine could ask: its config server has not even booted.
    const namespace = `/run/netns/firstlight.${master.cluster}.master-0`;
    await eventually('the namespace of the master', 60, async () => (existsSync(namespace) ? true : undefined));
    blockPort(master, configServerPort, 'refuse');
    await untilEntered();
    await loseNames(master);
    await untilNamesAreMissed();
    unblockPorts(master);
    const fault = 'api-int.stalls.firstlight.test does not resolve on master-0';
    expect(await stalledBy(outcome)).toBe(fault);
    expect((await outcome).stderr).toMatch(/gathered in [\d.]+ s: \S+log-bundle-\d{14}\.tar\.gz/);
    [failed] = takeBundles();
    expect(failed?.get('index.html')).toContain(fault);
  });

  test('and the bundle that was made by itself has what the stages rendered, the records, and no secret', () => {
    const bundle = failed ?? new Map<string, string>();
    expect(bundle.get('bootstrap/services/bootkube.json')).toContain('cluster-bootstrap');
    expect(bundle.get('bootstrap/journals/bootkube.log')).toContain('bootstrap systemd');
    expect([...bundle.keys()].filter((path) => path.startsWith('rendered-assets/')).length).toBeGreaterThan(20);
    expect(bundle.get('control-plane/master-0/journals/firstlight-firstboot.log')).toContain('lookup');
    expect(secretsIn(bundle, secretsOfAssets(dir))).toEqual([]);
  });

  test('port 22623 is blocked', async () => {
    blockPort(master, configServerPort, 'drop');
    await findNames(master);
    const outcome = createCluster('--no-gather');
    expect(await stalledBy(outcome)).toMatch(/^port 22623 .* is closed between master-0 and the load balancer/);
    expect(takeBundles()).toEqual([]);
    // The verb says the same at any time.
    const { code, stdout } = await startCli(['diagnose', 'master-0', '--dir', dir, '-o', 'json']).outcome;
    const { reasons } = JSON.parse(stdout) as { readonly reasons: readonly { readonly check: string }[] };
    expect([code, reasons[0]?.check]).toEqual([4, 'port-closed']);
  });

  test('a machine that is stopped is gathered from its disk, and its journal is read there', async () => {
    await machineVerb('stop');
    await bundleOfStopped();
    expect(await machineVerb('logs', '-u', 'firstlight-firstboot')).toContain('22623');
  });

  test('the pool token in the pointer config of a machine is wrong', async () => {
    unblockPorts(master);
    changePointer(master, otherToken);
    await machineVerb('start', '--no-wait');
    expect(await stalledBy(createCluster('--no-gather'))).toMatch(
      /^the config server does not accept the pool token of master-0/,
    );
  });

  test.runIf(isLong)('the clock of a machine is ten minutes ahead', async () => {
    await machineVerb('stop');
    changePointer(master, () => readFileSync(join(dir, 'master.ign'), 'utf8'));
    blockPort(master, configServerPort, 'refuse');
    await machineVerb('start', '--no-wait');
    await untilEntered();
    setClockAhead(master, 600);
    unblockPorts(master);
    expect(await stalledBy(createCluster())).toBe('the clock of master-0 is 10 min ahead');
  });

  test.runIf(isLong)('the disk of a master is full', async () => {
    await fillDisk(master);
    await setClockRight(master);
    expect(await stalledBy(createCluster())).toMatch(
      /^the disk of master-0 is full: 0 MiB are free below \/var\/lib\/etcd/,
    );
  });

  test.runIf(isLong)('an image is missing on a machine', async () => {
    await loseImage(master, 'etcd');
    await freeDisk(master);
    expect(await stalledBy(createCluster())).toMatch(/^the image \S+\/etcd@sha256:\S+ is missing on master-0/);
  });
});

describe('a person looks into the bootstrap machine', () => {
  const looked = () => ({ dir, folder, cluster: master.cluster });

  test('with the commands of the document, over ssh', async () => {
    await expect(lookAsDocumented(looked())).resolves.toBeUndefined();
  });

  test('over ssh, which accepts no other host key than that of the machine', async () => {
    await expect(refuseOtherHostKey(looked())).resolves.toBeUndefined();
  });

  test('by machine logs, of units and of containers', async () => {
    await expect(readLogs(looked())).resolves.toBeUndefined();
  });
});

test.runIf(isLong)('cured of everything, the same command completes the cluster', async () => {
  await bringImage(master, 'etcd');
  const { code, stderr } = await startCli(['create', 'cluster', '--dir', dir]).outcome;
  expect(code, stderr).toBe(0);
  expect(await cli('diagnose', '--dir', dir)).toBe('nothing was found, and nobody waits for anything\n');
});
