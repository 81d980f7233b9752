import { beforeAll, describe, expect, test } from 'vitest';
import { bootedMachine } from '../../test/booted-machine.ts';
import type { FakeHost } from '../host/fake/fake-host.ts';
import { type BootkubeContext, loadContext, machineFolders } from './context.ts';
import { renderStages } from './render-stages.ts';
import { runBootkubeStages } from './run-service.ts';
import { type StageReport, stageReport } from './stage-report.ts';
import { stageNumbered, stages } from './stages.ts';

let host: FakeHost;
let context: BootkubeContext;
const pod = `${machineFolders.render}/07-etcd/etcd-pod.yaml`;

async function render(): Promise<void> {
  const { signal } = new AbortController();
  const claim = { purpose: 'test', patienceMs: 0 };
  await runBootkubeStages({ context, stages: renderStages, emit: () => {}, signal, ...claim });
}

beforeAll(async () => {
  host = await bootedMachine();
  context = await loadContext(host, () => {});
  await render();
});

const reportOf = (number: number): Promise<StageReport> => stageReport(context, stageNumbered(number));

describe('what is said about a stage', () => {
  test('has the command of the original in full, for each of the fifteen, and what is validated', async () => {
    for (const stage of stages) {
      const { original, here, checks } = await stageReport(context, stage);
      expect(original, stage.name).not.toContain('…');
      expect(original, stage.name).toMatch(/^\S/);
      expect(here).toContain(`firstlight bootkube stage ${stage.number}`);
      expect(checks.length, stage.name).toBeGreaterThan(0);
    }
    expect((await reportOf(7)).original).toBe(
      'podman run ... ${ETCD_OPERATOR_IMAGE} \\\n  /usr/bin/cluster-etcd-operator render \\\n' +
        '  --asset-input-dir=/assets/tls \\\n  --asset-output-dir=/assets/etcd-bootstrap \\\n  ...',
    );
  });

  test('after the first run every file is new, and nothing of a secret is in it', async () => {
    for (const { number } of renderStages) {
      const report = await reportOf(number);
      expect(report.files.filter(({ change }) => change !== 'new')).toEqual([]);
      expect(JSON.stringify(report)).not.toContain('PRIVATE KEY');
    }
    const { files } = await reportOf(5);
    const open = files.filter(({ secret }) => secret === undefined).map(({ path }) => path);
    expect(open.filter((path) => /\.key$|kubeconfig|encryption/.test(path))).toEqual([]);
    expect(files.find(({ path }) => path === 'pki/etcd-signer.key')).toMatchObject({ secret: 'a key', change: 'new' });
  });

  test('of the configuration of machines pools and definitions are shown, and what people wrote is not', async () => {
    const shown = async (number: number): Promise<readonly string[]> =>
      (await reportOf(number)).files.filter(({ secret }) => secret === undefined).map(({ path }) => path);
    expect(await shown(12)).toEqual(['machine-pools/master.yaml', 'machine-pools/worker.yaml']);
    expect(await shown(3)).toContain('crd-machineconfigs.machineconfiguration.openshift.io.yaml');
    expect(await shown(1)).not.toContain('pool-tokens.yaml');
  });

  test('after another run it has the difference, and keys are never copied to compare them', async () => {
    await host.files.write(pod, `${await host.files.readText(pod)}# by hand\n`);
    const leaf = `${machineFolders.render}/05-config/pki/node-agent`;
    await Promise.all([host.files.remove(`${leaf}.key`), host.files.remove(`${leaf}.crt`)]);
    await render();
    const [changed] = (await reportOf(7)).files;
    expect(changed).toMatchObject({ path: 'etcd-pod.yaml', change: 'changed' });
    expect(changed?.diff).toContain('--- before/etcd-pod.yaml\n+++ now/etcd-pod.yaml\n');
    expect(changed?.diff).toContain('\n-# by hand\n');
    const key = (await reportOf(5)).files.find(({ path }) => path === 'pki/node-agent.key');
    expect(key).toMatchObject({ change: 'new', secret: 'a key' });
    expect(key?.diff).toBeUndefined();
    const kept = (await host.files.list(`${machineFolders.assets}/previous/05-config/pki`)) ?? [];
    expect(kept.filter((name) => !/\.(crt|pub)$/.test(name))).toEqual([]);
  });
});
