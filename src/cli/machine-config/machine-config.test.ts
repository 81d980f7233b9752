import { beforeEach, describe, expect, test } from 'vitest';
import type { FakeHost } from '../../host/fake/fake-host.ts';
import { fakeHost } from '../../host/fake/fake-host.ts';
import type { Invocation } from '../frame/verb.ts';
import { machineConfigDiffVerb } from './diff.ts';
import { machineConfigExplainVerb } from './explain.ts';
import { machineConfigRenderVerb } from './render.ts';
import { machineConfigShowVerb } from './show.ts';

const controllerConfig = `apiVersion: machineconfiguration.openshift.io/v1
kind: ControllerConfig
metadata: {name: machine-config-controller}
spec:
  apiServerInternalURL: https://api-int.demo.firstlight.test:6443
  clusterDNSIP: 10.96.0.10
  images: {pause: firstlight.local/pause:1}
  network: {clusterNetworks: [10.128.0.0/14], machineNetworks: [10.99.0.0/24]}
`;
const motd = (name: string, text: string) => `apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata:
  name: ${name}
  labels: {machineconfiguration.openshift.io/role: master}
spec:
  config:
    ignition: {version: 3.2.0}
    storage:
      files:
        - {path: /etc/motd, mode: 0644, contents: {source: 'data:,${text}'}}
`;

let host: FakeHost;
beforeEach(async () => {
  host = fakeHost();
  await host.files.makeFolder('/cluster/manifests');
  await host.files.write('/cluster/manifests/facts.yaml', controllerConfig);
  await host.files.write('/cluster/manifests/motd.yaml', `${motd('50-motd', 'hello')}---\n${motd('60-motd', 'bye')}`);
});

/** Everything of a call but its arguments and options. */
function call(): Omit<Invocation, 'args' | 'options'> {
  const global = { dir: '/cluster', output: 'text', logLevel: 'info' } as const;
  const { signal } = new AbortController();
  return { host, terminal: undefined as never, signal, emit: () => {}, global, passedOn: [] };
}

const render = (pools: readonly string[], to?: string) =>
  machineConfigRenderVerb.run({ ...call(), args: { pools }, options: { from: [], to } });
const show = (pool: string, name?: string, from: readonly string[] = []) =>
  machineConfigShowVerb.run({ ...call(), args: { pool, name }, options: { from } });
const explain = (pool: string, name: string) =>
  machineConfigExplainVerb.run({ ...call(), args: { pool, name }, options: { from: [] } });
const diff = (before: string, after: string, pool: string) =>
  machineConfigDiffVerb.run({ ...call(), args: { before, after }, options: { pool } });

describe('machine-config', () => {
  test('render names what each pool gets and writes what a config server serves from', async () => {
    const { data, text } = await render([], '/out');
    expect(text).toMatch(/^ {2}master {2}rendered-master-[0-9a-f]{32} {2}5 MachineConfigs/m);
    expect(text).toContain('4 files written to /out');
    const [master] = data as [{ name: string; sources: string[] }];
    expect(master.sources).toEqual([
      '00-master',
      '01-master-container-runtime',
      '01-master-kubelet',
      '50-motd',
      '60-motd',
    ]);
    const pool = JSON.parse(await host.files.readText('/out/machine-pools/master.yaml')) as {
      status: { configuration: { name: string } };
    };
    expect(pool.status.configuration.name).toBe(master.name);
    expect(JSON.parse(await host.files.readText(`/out/machine-configs/${master.name}.yaml`))).toMatchObject({
      metadata: { name: master.name },
    });
    expect((await host.files.facts('/out/machine-pools/master.yaml'))?.mode).toBe(0o600);
  });

  test('show lists everything with its origin, and prints one thing as the machine gets it', async () => {
    const { text } = await show('master');
    expect(text).toMatch(/file +\/etc\/motd +0644 3 B +60-motd {2}\(overrides another\)/);
    expect(text).toMatch(/unit +kubelet\.service +left open +01-master-kubelet/);
    expect((await show('master', '/etc/motd')).text).toBe('bye');
    expect((await show('master', 'kubelet.service')).text).toContain('EnvironmentFile=/etc/kubernetes/kubelet.env');
  });

  test('a ControllerConfig that names torcx gives every node its bootstrapper and a kubelet that waits for it', async () => {
    const torcx = '{manifestURL: "https://x.test/{{.OSVersion}}.json", flags: [--keyring=/etc/keys.asc]}';
    const facts = `${controllerConfig}  kubeletEnvironment: {KUBELET_IMAGE_TAG: v1.8.4}\n  nodeBootstrap: {torcx: ${torcx}}\n`;
    await host.files.write('/cluster/manifests/facts.yaml', facts);
    expect((await show('worker', 'k8s-node-bootstrap.service')).text).toContain(
      'ExecStart=/usr/local/bin/firstlight torcx bootstrap --upgrade-os=true --torcx-skip-setup=false ' +
        '--torcx-manifest-url=https://x.test/{{.OSVersion}}.json --verbose=debug ' +
        '--keyring=/etc/kubernetes/installer/pubring.gpg --pause-scale=0.2 --keyring=/etc/keys.asc\n',
    );
    const { text } = await show('worker');
    expect(text).not.toContain('warning');
    expect(text).toMatch(/file +\/etc\/kubernetes\/installer\/kubelet\.env .*01-worker-kubelet/);
    expect(text).not.toMatch(/file +\/etc\/kubernetes\/kubelet\.env/);
    expect((await explain('worker', 'kubelet.service')).text).toContain('01-worker-node-bootstrap');
  });

  test('explain answers why a file is on a machine, and who lost', async () => {
    const { text } = await explain('master', '/etc/motd');
    expect(text).toMatch(/^file \/etc\/motd is on every machine of pool master \(rendered-master-[0-9a-f]{32}\)\n/);
    expect(text).toContain(
      '  50-motd  /cluster/manifests/motd.yaml:1:1   sets contents, mode  contents overridden by 60-motd\n' +
        '  60-motd  /cluster/manifests/motd.yaml:13:1  sets contents, mode\n',
    );
    const kubelet = await explain('master', '/etc/systemd/system/kubelet.service');
    expect(kubelet.text).toContain('  01-master-kubelet  built in  sets contents\n');
    await expect(explain('master', '/etc/motdd')).rejects.toMatchObject({
      code: 'MACHINECONFIG_NOT_THERE',
      hint: 'Did you mean /etc/motd?',
    });
    await expect(explain('infra', '/etc/motd')).rejects.toMatchObject({
      code: 'MACHINECONFIG_POOL_UNKNOWN',
      hint: 'The pools here are: master, worker.',
    });
  });

  test('diff of two folders says what changes and what it costs', async () => {
    await host.files.makeFolder('/next');
    await host.files.write('/next/facts.yaml', controllerConfig.replace('pause:1', 'pause:2'));
    await host.files.write('/next/motd.yaml', motd('50-motd', 'bye'));
    const { text, data } = await diff('/cluster/manifests', '/next', 'master');
    expect(text).toMatch(
      /~ +file +\/etc\/containerd\/config\.toml \(contents\) +systemctl restart containerd\.service/,
    );
    expect(text).toContain('No reboot: systemctl restart containerd.service.');
    expect(data).toMatchObject({ needsReboot: false });
  });

  test('diff of two rendered files needs no folder', async () => {
    const rendered = (args: string) => JSON.stringify({ kernelArguments: [args] });
    for (const name of ['a', 'b']) {
      const head = 'apiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfig\n';
      await host.files.write(`/${name}.yaml`, `${head}metadata: {name: ${name}}\nspec: ${rendered(name)}\n`);
    }
    const { text } = await diff('/a.yaml', '/b.yaml', 'worker');
    expect(text).toContain('A machine has to reboot for this.');
  });

  test('every mistake of every file is told at once', async () => {
    await host.files.write('/cluster/manifests/a.yaml', 'kind: [\n');
    await host.files.write('/cluster/manifests/z.yaml', motd('70-bad', 'x').replace('/etc/motd', 'etc/motd'));
    const error = await render([]).catch((reason: unknown) => reason as Error);
    expect(error).toMatchObject({ code: 'MACHINECONFIG_UNREADABLE' });
    expect((error as Error).message).toContain('2 mistakes in the MachineConfigs:\n');
    expect((error as Error).message).toMatch(/^\/cluster\/manifests\/a\.yaml:\d+:\d+ {2}not YAML/m);
    expect((error as Error).message).toMatch(/^\/cluster\/manifests\/z\.yaml:11:18 {2}.*the path is not absolute/m);
  });

  test('a folder without a ControllerConfig renders what is there, and says what is missing', async () => {
    await host.files.makeFolder('/plain');
    await host.files.write('/plain/motd.yaml', motd('50-motd', 'hello'));
    const { text } = await show('master', undefined, ['/plain']);
    expect(text).toContain('note: no ControllerConfig here');
  });
});
