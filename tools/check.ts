// Runs every check in order and ends with one line `N passed, N failed`. A check is a value; the exit code is their sum.
// A check that cannot get what it needs fails: nothing here is skipped silently.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { checkRooms } from './check-rooms.ts';
import { prepareOracles, prepareRelease } from './oracles.ts';

interface Outcome {
  readonly passed: number;
  readonly failed: number;
}
interface Check {
  readonly name: string;
  readonly isFast: boolean;
  readonly run: () => Promise<Outcome>;
}

const flags = new Set(process.argv.slice(2));
const unknown = [...flags].filter((flag) => !['--fast', '--long'].includes(flag));
if (unknown.length > 0) {
  console.error(`check: ${unknown.join(' ')} is not known; use --fast, --long or nothing.`);
  process.exit(2);
}
if (flags.has('--long')) process.env['FIRSTLIGHT_LONG'] = '1';
const bin = (name: string): string => resolve('node_modules/.bin', name);

const checks: readonly Check[] = [
  { name: 'types', isFast: true, run: () => one(bin('tsc'), ['--noEmit']) },
  { name: 'lint', isFast: true, run: () => one(process.execPath, [bin('oxlint'), '--type-aware', '--deny-warnings']) },
  { name: 'format', isFast: true, run: () => one(bin('biome'), ['check', '--enforce-assist=true']) },
  { name: 'rooms', isFast: true, run: async () => checkRooms() },
  { name: 'unit tests', isFast: true, run: () => vitest('unit', everyCore) },
  { name: 'simulations', isFast: false, run: () => vitest('sim', everyCore) },
  { name: 'oracles', isFast: false, run: async () => ((await prepareOracles()) ? ok : bad) },
  { name: 'oracle and golden tests', isFast: false, run: () => vitest('oracle', twoAtATime) },
  { name: 'release', isFast: false, run: async () => ((await prepareRelease()) ? ok : bad) },
  { name: 'tests on real machines', isFast: false, run: () => vitest('e2e') },
];

const ok: Outcome = { passed: 1, failed: 0 };
const bad: Outcome = { passed: 0, failed: 1 };

async function one(program: string, args: readonly string[]): Promise<Outcome> {
  return (await execute(program, args)) === 0 ? ok : bad;
}

/** Unit tests and simulations wait for nothing, so no core is kept free for the system. */
const everyCore = ['--maxWorkers=100%'];
/** Oracle tests wait for real programs most of the time, and some of them start a whole control plane. */
const twoAtATime = ['--maxWorkers=2'];

/** Runs one vitest project and counts what really ran; a project without a single test is a failure. */
async function vitest(project: string, options: readonly string[] = []): Promise<Outcome> {
  const report = resolve(`.check/${project}.json`);
  rmSync(report, { force: true });
  const code = await execute(process.execPath, [
    bin('vitest'),
    'run',
    `--project=${project}`,
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...options,
  ]);
  const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(report, 'utf8')) as Record<string, number>;
  const failed = numFailedTests ?? 0;
  if (code !== 0 && failed === 0) return { passed: numPassedTests ?? 0, failed: 1 };
  return { passed: numPassedTests ?? 0, failed: numPassedTests === 0 ? failed + 1 : failed };
}

function execute(program: string, args: readonly string[]): Promise<number> {
  return new Promise((done) => {
    const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'] });
    child.on('error', (error) => {
      console.error(`${program}: ${error.message}`);
      done(127);
    });
    child.on('close', (code) => done(code ?? 1));
  });
}

mkdirSync('.check', { recursive: true });
let passed = 0;
let failed = 0;
for (const check of checks.filter((candidate) => candidate.isFast || !flags.has('--fast'))) {
  const start = performance.now();
  console.log(`\n== ${check.name}`);
  const outcome = await check.run().catch((error: unknown) => {
    console.error(error);
    return bad;
  });
  passed += outcome.passed;
  failed += outcome.failed;
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`== ${check.name}: ${outcome.failed === 0 ? 'passed' : 'FAILED'} in ${seconds} s`);
}
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
