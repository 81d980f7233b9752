// How long a whole bootstrap takes and how much memory it needs: the bundled program in its own process, with a local
// HTTPS bucket, API server and bus, a signed list and an image of 30 and of 300 MB, on this machine's disk.
// Limits: 1.5 s and 150 MB for 30 MB; memory must not grow with the image. Run: node bench/torcx.ts [runs]
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { cpus, loadavg, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import {
  configMap,
  configMapPath,
  json,
  makeWorld,
  mappings,
  openSuite,
  publish,
  type Suite,
  useApi,
} from '../test/oracle/torcx/node-world.ts';
import { shown, spread } from './measure.ts';

interface Sample {
  readonly seconds: number;
  /** CPU seconds; tells a slow program from a busy machine. */
  readonly cpuSeconds: number;
  readonly megabytes: number;
}

const runs = Number(process.argv[2] ?? 7);
/** This machine may be busy; a pause is no failure. */
const patience = ['--api-timeout=30', '--bucket-timeout=30'];
const limits = { seconds: 1.5, megabytes: 150 };
const folder = mkdtempSync(join(tmpdir(), 'flbench-'));

/** The program as machines run it. */
function bundle(): string {
  const tool = new URL('../tools/bundle.ts', import.meta.url).pathname;
  execFileSync(process.execPath, [tool, join(folder, 'dist')], { stdio: ['ignore', 'ignore', 'inherit'] });
  return join(folder, 'dist', 'firstlight.mjs');
}

/** Prints the high-water mark of the process as its last word on stderr. VmHWM, because maxrss counts our own memory
 * from before the exec, image included. */
const meter = `data:text/javascript,${encodeURIComponent(
  "import { readFileSync, writeSync } from 'node:fs'; process.on('exit', () => { const { user, system } = process.cpuUsage(); writeSync(2, `cpu ${user + system}\\n${readFileSync('/proc/self/status', 'utf8')}`); });",
)}`;

async function measure(suite: Suite, program: string, image: Uint8Array): Promise<Sample> {
  using world = await makeWorld(suite, folder);
  useApi(suite, world);
  suite.api.replies
    .set('/version', [{ body: '{"gitVersion":"v1.8.4+coreos.0"}', headers: json }])
    .set(configMapPath, [{ body: configMap(mappings({ '1.8': ['17.03'] })), headers: json }]);
  publish(suite, '1520.5.0', [{ version: '17.03', image }]);
  // The same docker runs already, so the run ends by itself instead of waiting for a reboot.
  const running = { kind: 'profile-manifest-v0', value: { images: [{ name: 'docker', reference: '17.03' }] } };
  world.put('/run/torcx/profile.json', JSON.stringify(running));
  const start = performance.now();
  const child = spawn(
    process.execPath,
    ['--import', meter, program, 'torcx', 'bootstrap', ...world.args, ...patience],
    {
      env: { ...process.env, ...world.variables },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  let err = '';
  child.stderr.on('data', (chunk) => (err += String(chunk)));
  const [code] = (await once(child, 'close')) as [number];
  const seconds = (performance.now() - start) / 1000;
  if (code !== 0) throw new Error(err);
  const stored = statSync(join(world.root, 'var/lib/torcx/store/1520.5.0/docker:17.03.torcx.tgz')).size;
  if (stored !== image.length || !world.has('/etc/kubernetes/kubelet.env')) throw new Error(err);
  const cpuSeconds = Number(/cpu (\d+)/.exec(err)?.[1]) / 1e6;
  return { seconds, cpuSeconds, megabytes: Number(/VmHWM:\s+(\d+) kB/.exec(err)?.[1]) / 1024 };
}

const suite = await openSuite();
try {
  const program = bundle();
  const results = [];
  for (const megabytes of [30, 300]) {
    const image = randomBytes(megabytes * 1_000_000);
    await measure(suite, program, image);
    const samples: Sample[] = [];
    for (let run = 0; run < (megabytes === 30 ? runs : Math.min(runs, 3)); run += 1) {
      samples.push(await measure(suite, program, image));
    }
    const seconds = spread(samples.map((sample) => sample.seconds));
    const cpuSeconds = spread(samples.map((sample) => sample.cpuSeconds));
    const memory = spread(samples.map((sample) => sample.megabytes));
    results.push({ imageMegabytes: megabytes, runs: samples.length, seconds, cpuSeconds, megabytes: memory });
  }
  const machine = {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGigabytes: Math.round(totalmem() / 1e9),
    load: loadavg()[0],
    node: process.version,
    date: new Date().toISOString(),
    kernel: readFileSync('/proc/sys/kernel/osrelease', 'utf8').trim(),
  };
  for (const { imageMegabytes, runs: count, seconds, cpuSeconds, megabytes } of results) {
    const cells = [shown(seconds, 's', 2), `CPU ${shown(cpuSeconds, 's', 2)}`, `peak ${shown(megabytes, 'MB')}`];
    console.log(`${String(imageMegabytes).padStart(4)} MB image, ${count} runs: ${cells.join(', ')}`);
  }
  const [small, large] = results;
  const holds =
    (small?.seconds.median ?? 9) <= limits.seconds &&
    (small?.megabytes.max ?? 999) <= limits.megabytes &&
    (large?.megabytes.max ?? 999) <= limits.megabytes;
  console.log(JSON.stringify({ bench: 'torcx', limits, holds, machine, results }));
} finally {
  await suite[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
}
