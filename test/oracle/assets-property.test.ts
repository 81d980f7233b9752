// Random valid install-configs all the way to Ignition configs, judged by the real Ignition in one batch, and by openssl
// on a sample. FIRSTLIGHT_LONG=1 runs twenty times as many.
import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createAssets } from '../../src/assets/create-assets.ts';
import { targets } from '../../src/assets/targets.ts';
import { fakeHost } from '../../src/host/fake/fake-host.ts';
import { installConfigs } from '../arbitrary/install-config.ts';
import { judge, oracleProgram } from './programs.ts';

const numRuns = process.env['FIRSTLIGHT_LONG'] === '1' ? 10_000 : 500;
const dir = '/cluster';

test('every valid install-config becomes Ignition configs that the real Ignition takes without a warning', {
  timeout: 1_800_000,
}, async () => {
  const requests: string[] = [];
  let number = 0;
  await fc.assert(
    fc.asyncProperty(installConfigs, async (input) => {
      number += 1;
      const host = fakeHost({ seed: String(number) });
      await host.files.makeFolder(dir);
      await host.files.write(`${dir}/install-config.yaml`, JSON.stringify(input));
      const { signal } = new AbortController();
      await createAssets({ host, dir, targets: targets['ignition-configs'], purpose: 'test', emit: () => {}, signal });
      for (const name of ['bootstrap.ign', 'master.ign', 'worker.ign']) {
        requests.push(JSON.stringify({ op: 'validate', config: await host.files.readText(`${dir}/${name}`) }));
      }
      if (number % 100 === 1) {
        const [ca, leaf] = await Promise.all(
          ['root-ca', 'machine-config-server'].map((name) => host.files.readText(`${dir}/tls/${name}.crt`)),
        );
        expect(
          judge(
            'openssl',
            [
              'verify',
              '-attime',
              String(Date.parse('2026-06-01') / 1000),
              '-x509_strict',
              '-CAfile',
              '/dev/stdin',
              '-untrusted',
              '/dev/null',
              '/dev/stdin',
            ],
            `${ca}${leaf}`,
          ).code,
        ).toBe(0);
      }
    }),
    { numRuns },
  );
  const { stdout, status } = spawnSync(oracleProgram('ignition-oracle'), [], {
    input: `${requests.join('\n')}\n`,
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  });
  expect(status).toBe(0);
  const verdicts = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { verdict: string; entries?: unknown[] });
  expect(verdicts).toHaveLength(requests.length);
  expect(verdicts.filter((each) => each.verdict !== 'fine')).toEqual([]);
});
