import { describe, expect, test } from 'vitest';
import { servedPool } from '../../test/config-server-sample.ts';
import { kubeletPullSecret, proxyCredentials } from '../contract/machine-paths.ts';
import type { IgnitionConfig } from '../ignition/config.ts';
import { dataUrl } from '../ignition/data-url.ts';
import { readInlineContents } from '../ignition/inline-contents.ts';
import { parseIgnition } from '../ignition/parse.ts';
import { type SpecVersion, specVersions } from '../ignition/spec-version.ts';
import type { ServedPool } from './config-source.ts';
import { buildServedConfig, servedPaths } from './served-config.ts';

const token = 'abc123.0123456789abcdef';

function build(served: ServedPool, version: SpecVersion = '3.5.0'): IgnitionConfig {
  const built = buildServedConfig(served, version);
  if (built.status !== 'built') throw new Error(built.losses.join('; '));
  const parsed = parseIgnition(Buffer.from(built.fill(token)));
  if (parsed.status !== 'parsed') throw new Error(JSON.stringify(parsed.report));
  return parsed.config;
}

function textAt(config: IgnitionConfig, path: string): string {
  const files = (config.storage?.files ?? []).filter((file) => file.path === path);
  expect(files).toHaveLength(1);
  const read = readInlineContents(files[0]?.contents ?? {});
  return read.status === 'inline' ? Buffer.from(read.bytes).toString('utf8') : read.status;
}

describe('a served config', () => {
  test.each(specVersions)('is a valid config of spec %s with every file that the server adds', (version) => {
    const config = build(servedPool('worker'), version);
    expect(config.ignition.version).toBe(version);
    const files = config.storage?.files ?? [];
    expect(files.map(({ path }) => path)).toEqual(Object.values(servedPaths));
    expect(files.every(({ overwrite }) => overwrite)).toBe(true);
  });

  test('carries the token in the kubeconfig and nowhere else', () => {
    const config = build(servedPool('worker'));
    expect(textAt(config, servedPaths.bootstrapKubeconfig)).toContain(`token: ${token}`);
    expect(JSON.stringify(config).split(token)).toHaveLength(2);
    const modes = new Map((config.storage?.files ?? []).map(({ path, mode }) => [path, mode]));
    expect(modes.get(servedPaths.bootstrapKubeconfig)).toBe(0o600);
    expect(modes.get(servedPaths.machineConfig)).toBe(0o600);
  });

  test('carries what a proxy asks for where the pool needs it, readable by nobody else, and not in its MachineConfig', () => {
    const secret = 'HTTPS_PROXY="http://u:opensesame@proxy.test:3128"\n';
    const config = build({ ...servedPool('worker'), proxyCredentials: secret });
    expect(textAt(config, proxyCredentials)).toBe(secret);
    expect(config.storage?.files?.find(({ path }) => path === proxyCredentials)?.mode).toBe(0o600);
    for (const path of [servedPaths.machineConfig, servedPaths.encapsulated]) {
      expect(textAt(config, path)).not.toContain('opensesame');
    }
  });

  test('carries credentials for registries, readable by nobody else, and not in its MachineConfig', () => {
    const pullSecret = '{"auths":{"r.test":{"auth":"dTpvcGVuc2VzYW1l"}}}';
    const config = build({ ...servedPool('worker'), pullSecret });
    expect(textAt(config, kubeletPullSecret)).toBe(pullSecret);
    expect(config.storage?.files?.find(({ path }) => path === kubeletPullSecret)?.mode).toBe(0o600);
    for (const path of [servedPaths.machineConfig, servedPaths.encapsulated]) {
      expect(textAt(config, path)).not.toContain('auths');
    }
  });

  test('leaves a pool the credentials for registries that its own MachineConfigs bring', () => {
    const file = { path: kubeletPullSecret, contents: { source: dataUrl('{"auths":{}}') } };
    const config = build({ ...servedPool('worker', { storage: { files: [file] } }), pullSecret: '{"auths":{"r":{}}}' });
    expect(textAt(config, kubeletPullSecret)).toBe('{"auths":{}}');
  });

  test('tells the machine which config it has, in four annotations', () => {
    const annotations = JSON.parse(textAt(build(servedPool('worker')), servedPaths.nodeAnnotations)) as object;
    expect(annotations).toEqual({
      'machineconfiguration.openshift.io/currentConfig': 'rendered-worker-1',
      'machineconfiguration.openshift.io/desiredConfig': 'rendered-worker-1',
      'machineconfiguration.openshift.io/firstPivotConfig': 'rendered-worker-1',
      'machineconfiguration.openshift.io/state': 'Done',
    });
  });

  test('holds the MachineConfig as it is, and once more without its Ignition part', () => {
    const served = servedPool(
      'worker',
      { systemd: { units: [{ name: 'a.service', enabled: true }] } },
      { kernelArguments: ['quiet'] },
    );
    const config = build(served);
    const whole = JSON.parse(textAt(config, servedPaths.machineConfig)) as ServedPool['machineConfig'];
    expect(whole.spec).toEqual(served.machineConfig.spec);
    const encapsulated = JSON.parse(textAt(config, servedPaths.encapsulated)) as ServedPool['machineConfig'];
    expect(encapsulated.spec).toEqual({
      ...served.machineConfig.spec,
      config: { ignition: { version: '3.5.0' } },
    });
  });

  test('replaces whatever the pool has at the paths of the server', () => {
    const file = { path: servedPaths.bootstrapKubeconfig, contents: { source: dataUrl('mine') } };
    const link = { path: servedPaths.kubeletClientCa, target: '/dev/null' };
    const config = build(servedPool('worker', { storage: { files: [file], links: [link] } }));
    expect(textAt(config, servedPaths.bootstrapKubeconfig)).toContain(token);
    expect(config.storage?.links).toBeUndefined();
  });

  test('moves kernel arguments to the encapsulated config for specs that do not know them, every time once', () => {
    const served = servedPool('worker', { kernelArguments: { shouldExist: ['a'] } }, { kernelArguments: ['quiet'] });
    for (let round = 0; round < 3; round += 1) {
      const config = build(served, '3.2.0');
      expect(config.kernelArguments).toBeUndefined();
      const { spec } = JSON.parse(textAt(config, servedPaths.encapsulated)) as ServedPool['machineConfig'];
      expect(spec.kernelArguments).toEqual(['quiet', 'a']);
    }
    expect(build(served, '3.3.0').kernelArguments).toEqual({ shouldExist: ['a'] });
  });

  test('is refused, with what would be lost, where the spec has no words for it', () => {
    const karg = servedPool('worker', { kernelArguments: { shouldNotExist: ['b'] } });
    expect(buildServedConfig(karg, '3.2.0')).toMatchObject({ status: 'inexpressible' });
    expect(buildServedConfig(karg, '3.3.0')).toMatchObject({ status: 'built' });
    const luks = { name: 'data', device: '/dev/vdb', discard: true };
    const built = buildServedConfig(servedPool('worker', { storage: { luks: [luks] } }), '3.3.0');
    expect(built).toEqual({ status: 'inexpressible', losses: ['$.storage.luks.0.discard: needs spec 3.4.0'] });
  });

  test('a config whose own text looks like the place of the token is never filled in the wrong place', () => {
    const contents = { source: 'data:,000000.firstlight-token' };
    const served = servedPool('worker', { storage: { files: [{ path: '/etc/x', contents }] } });
    const config = build(served);
    expect(textAt(config, '/etc/x')).toBe('000000.firstlight-token');
    expect(textAt(config, servedPaths.bootstrapKubeconfig)).toContain(token);
  });
});
