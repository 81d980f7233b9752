// Random valid install-configs all the way to Ignition configs, judged by the real Ignition in one batch and by openssl.
// A sample of the configs that install-config.property.test.ts reads; FIRSTLIGHT_LONG=1 takes twenty times as many.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createAssets } from '../../src/assets/create-assets.ts';
import { targets } from '../../src/assets/targets.ts';
import { type FakeHost, fakeHost } from '../../src/host/fake/fake-host.ts';
import { installConfigs } from '../arbitrary/install-config.ts';
import { judge, oracleProgram } from './programs.ts';

const count = process.env['FIRSTLIGHT_LONG'] === '1' ? 1_000 : 50;
const dir = '/cluster';

async function assetsOf(input: unknown, seed: string): Promise<FakeHost> {
  const host = fakeHost({ seed });
  await host.files.makeFolder(dir);
  await host.files.write(`${dir}/install-config.yaml`, JSON.stringify(input));
  const { signal } = new AbortController();
  await createAssets({ host, dir, targets: targets['ignition-configs'], purpose: 'test', emit: () => {}, signal });
  return host;
}

test('every valid install-config becomes Ignition configs that the real Ignition takes without a warning', {
  timeout: 1_800_000,
}, async () => {
  const requests: string[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'firstlight-property-'));
  for (const [number, input] of fc.sample(installConfigs, { numRuns: count, seed: 1 }).entries()) {
    const host = await assetsOf(input, String(number));
    const read = (name: string): Promise<string> => host.files.readText(`${dir}/${name}`);
    for (const name of ['bootstrap.ign', 'master.ign', 'worker.ign']) {
      requests.push(JSON.stringify({ op: 'validate', config: await read(name) }));
    }
    for (const name of ['root-ca', 'machine-config-server']) {
      writeFileSync(join(folder, name), await read(`tls/${name}.crt`));
    }
    const at = String(Date.parse('2026-06-01') / 1000);
    const verdict = judge('openssl', [
      'verify',
      '-attime',
      at,
      '-x509_strict',
      '-purpose',
      'sslserver',
      '-CAfile',
      join(folder, 'root-ca'),
      '-untrusted',
      join(folder, 'machine-config-server'),
      join(folder, 'machine-config-server'),
    ]);
    expect(verdict.output).toContain(': OK');
  }
  rmSync(folder, { recursive: true, force: true });
  const oracle = oracleProgram('ignition-oracle');
  const { stdout } = spawnSync(oracle, [], { input: `${requests.join('\n')}\n`, encoding: 'utf8', maxBuffer: 2 ** 30 });
  const verdicts = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { verdict: string });
  expect(verdicts).toHaveLength(3 * count);
  expect(verdicts.filter((each) => each.verdict !== 'fine')).toEqual([]);
});
