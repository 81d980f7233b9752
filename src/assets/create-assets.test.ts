import { beforeAll, describe, expect, test } from 'vitest';
import { Crash, type FakeDisk } from '../host/fake/fake-files.ts';
import { type FakeHost, fakeHost } from '../host/fake/fake-host.ts';
import type { IgnitionConfig } from '../ignition/config.ts';
import { dataUrl } from '../ignition/data-url.ts';
import type { WorkflowEvent } from '../workflow/events.ts';
import { type CreatedAssets, createAssets } from './create-assets.ts';
import { installConfig } from './install-config.ts';
import { type TargetName, targets } from './targets.ts';

const dir = '/home/core/cluster';

interface Run {
  readonly created: CreatedAssets;
  readonly events: readonly WorkflowEvent[];
}

async function create(host: FakeHost, target: TargetName = 'ignition-configs'): Promise<Run> {
  const events: WorkflowEvent[] = [];
  const { signal } = new AbortController();
  const emit = (event: WorkflowEvent): number => events.push(event);
  const created = await createAssets({ host, dir, targets: targets[target], purpose: 'a test', emit, signal });
  return { created, events };
}

function copyOf(disk: FakeDisk): FakeDisk {
  const nodes = [...disk.nodes].map(([path, node]) => [path, { ...node }] as const);
  return { nodes: new Map(nodes), changes: 0, isFull: false, locked: new Set() };
}

/** Everything a person sees: content by path, without our own memory. */
function visible(disk: FakeDisk): Record<string, string> {
  const files = [...disk.nodes].flatMap(([path, node]) =>
    node.kind === 'file' ? [[path, node.content.toString('utf8')] as const] : [],
  );
  return Object.fromEntries(
    files
      .filter(([path]) => !/\.firstlight\/(journal|log)$/.test(path))
      .map(([path, content]) => [path.slice(dir.length + 1), content]),
  );
}

const edit = async (host: FakeHost, path: string, change: (text: string) => string): Promise<void> =>
  host.files.write(`${dir}/${path}`, change(await host.files.readText(`${dir}/${path}`)));

let finished: FakeDisk;
beforeAll(async () => {
  const host = fakeHost();
  await create(host);
  finished = host.disk;
});
const again = (): FakeHost => fakeHost({ disk: copyOf(finished), seed: 'another seed' });

describe('create, on a folder that is already complete', () => {
  test('writes nothing when nothing changed', async () => {
    const host = again();
    const { events } = await create(host);
    expect(host.disk.changes).toBe(0);
    expect(new Set(events.map((event) => event.kind))).toEqual(new Set(['stage-unchanged']));
  });

  test('an edited manifest wins, reaches bootstrap.ign, and leaves every key alone', async () => {
    const host = again();
    await edit(host, 'manifests/access-admins.yaml', (text) =>
      text.replace('name: firstlight:admins\n', 'name: firstlight:admins\n  labels:\n    mine: "yes"\n'),
    );
    await create(host);
    const before = visible(finished);
    const after = visible(host.disk);
    const changed = Object.keys(after).filter((path) => after[path] !== before[path]);
    expect(changed.sort()).toEqual(['bootstrap.ign', 'manifests/access-admins.yaml']);
    expect(after['manifests/access-admins.yaml']).toContain('mine: "yes"');
    const second = host.disk.changes;
    await create(host);
    expect(host.disk.changes).toBe(second);
  });

  test('files that a person adds to manifests/ ride along', async () => {
    const host = again();
    const extra = 'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: mine\n';
    await host.files.write(`${dir}/manifests/mine.yaml`, extra);
    await create(host);
    const ignition = visible(host.disk)['bootstrap.ign'] ?? '';
    expect(ignition).toContain('/opt/firstlight/manifests/mine.yaml');
    expect(ignition).toContain(Buffer.from(extra).toString('base64'));
  });

  test('a manifest that a person removed stays removed', async () => {
    const host = again();
    await host.files.remove(`${dir}/manifests/root-ca-bundle.yaml`);
    await create(host);
    await create(host);
    expect(visible(host.disk)['manifests/root-ca-bundle.yaml']).toBeUndefined();
    expect(visible(host.disk)['bootstrap.ign']).not.toContain('root-ca-bundle');
  });

  test('a new name in the install-config reaches what is derived from it and no signer', async () => {
    const host = again();
    await edit(host, 'install-config.yaml', (text) => text.replace('name: demo', 'name: lab'));
    await create(host);
    const before = visible(finished);
    const after = visible(host.disk);
    expect(after['master.ign']).toContain('api-int.lab.firstlight.test');
    expect(JSON.parse(after['metadata.json'] ?? '')).toMatchObject({ clusterName: 'lab' });
    for (const path of Object.keys(before).filter((name) =>
      /signer|root-ca|service-account|secrets-encryption|join-keys|identity/.test(name),
    )) {
      if (!path.startsWith('manifests/')) expect(after[path], path).toBe(before[path]);
    }
  });

  test('an edit that contradicts an edited ancestor is refused, naming both, and nothing is written', async () => {
    const host = again();
    await edit(host, 'manifests/cluster-config.yaml', (text) => `${text}# mine\n`);
    await edit(host, 'install-config.yaml', (text) => text.replace('name: demo', 'name: lab'));
    const before = visible(host.disk);
    await expect(create(host)).rejects.toMatchObject({
      code: 'ASSET_CONFLICT',
      exit: 3,
      message: 'manifests/cluster-config.yaml was edited by hand, and install-config changed since',
    });
    expect(visible(host.disk)['manifests/cluster-config.yaml']).toBe(before['manifests/cluster-config.yaml']);
    expect(visible(host.disk)['install-config.yaml']).toBe(before['install-config.yaml']);
  });

  test('two files that define one object are refused, naming both', async () => {
    const host = again();
    await host.files.write(
      `${dir}/manifests/again.yml`,
      await host.files.readText(`${dir}/manifests/root-ca-bundle.yaml`),
    );
    await expect(create(host)).rejects.toMatchObject({
      code: 'ASSET_DUPLICATE_MANIFEST',
      message: 'ConfigMap kube-system/root-ca is in both manifests/again.yml and manifests/root-ca-bundle.yaml',
    });
  });

  test('a broken manifest is named with line and column', async () => {
    const host = again();
    await host.files.write(`${dir}/manifests/broken.yaml`, 'apiVersion: v1\nkind: [\n');
    await expect(create(host)).rejects.toMatchObject({
      code: 'ASSET_UNREADABLE',
      message: expect.stringContaining('manifests/broken.yaml:'),
    });
  });

  test.each([
    ['spec: { kernelArguments: [quiet] }', /kernelArguments cannot be honoured: .*\(from 99-mine\)/],
    ['spec: { config: { ignition: { version: 3.5.0 }, storage: { disks: [{ device: /dev/x }] } } }', /storage\.disks/],
    ['spec: { config: { ignition: { version: 2.2.0 } } }', /^manifests\/mine\.yaml:4:/m],
  ])(
    'a MachineConfig that no machine could have is refused here, not by the bootstrap machine: %s',
    async (spec, message) => {
      const host = again();
      const metadata = '{ name: 99-mine, labels: { machineconfiguration.openshift.io/role: worker } }';
      const text = `apiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfig\nmetadata: ${metadata}\n${spec}\n`;
      await host.files.write(`${dir}/manifests/mine.yaml`, text);
      await expect(create(host)).rejects.toThrow(message);
    },
  );

  test('a key without its certificate is refused instead of replaced', async () => {
    const host = again();
    await host.files.remove(`${dir}/tls/etcd-signer.crt`);
    await expect(create(host)).rejects.toMatchObject({
      code: 'ASSET_INCOMPLETE',
      message: 'tls/etcd-signer.crt is missing, but tls/etcd-signer.key is there',
    });
  });

  test("another cluster's certificate is recognised", async () => {
    const other = fakeHost({ seed: 'other' });
    await create(other);
    const host = again();
    for (const file of ['machine-config-server.crt', 'machine-config-server.key']) {
      await host.files.write(`${dir}/tls/${file}`, await other.files.readText(`${dir}/tls/${file}`));
    }
    await expect(create(host)).rejects.toMatchObject({ code: 'ASSET_MISMATCH', exit: 3 });
    await host.files.write(`${dir}/tls/machine-config-server.key`, 'not a key');
    await expect(create(host)).rejects.toMatchObject({ code: 'ASSET_UNREADABLE' });
  });

  test("another cluster's metadata is recognised", async () => {
    const host = again();
    await edit(host, 'metadata.json', (text) =>
      text.replace(/"clusterID": "[^"]+"/, '"clusterID": "6ba7b810-9dad-41d1-80b4-00c04fd430c8"'),
    );
    await expect(create(host)).rejects.toMatchObject({ code: 'ASSET_MISMATCH' });
  });

  test('an expired signer is refused by name; an expiring leaf is made anew with a line that says so', async () => {
    const late = fakeHost({ disk: copyOf(finished), start: '2036-06-01T00:00:00Z' });
    await expect(create(late)).rejects.toMatchObject({
      code: 'ASSET_EXPIRED',
      message: expect.stringContaining('tls/root-ca.crt expired on 2035-12-30'),
    });
    const soon = fakeHost({ disk: copyOf(finished), start: '2026-11-01T00:00:00Z', seed: 'another seed' });
    const { events } = await create(soon);
    const told = events.filter((event) => event.kind === 'notice').map((event) => event.text);
    expect(told).toContain('admin: ends on 2027-01-01; it is made anew');
    expect(told.join('\n')).not.toMatch(/^join-keys/m);
    expect(visible(soon.disk)['auth/kubeconfig']).not.toBe(visible(finished)['auth/kubeconfig']);
    expect(visible(soon.disk)['tls/root-ca.key']).toBe(visible(finished)['tls/root-ca.key']);
  });

  test('a join key near its end gets a successor and stays good until its own end', async () => {
    const soon = fakeHost({ disk: copyOf(finished), start: '2026-12-20T00:00:00Z', seed: 'another seed' });
    await create(soon);
    const before = JSON.parse(visible(finished)['auth/join-keys.json'] ?? '') as { current: object };
    const after = JSON.parse(visible(soon.disk)['auth/join-keys.json'] ?? '') as {
      current: object;
      previous: object[];
    };
    expect(after.previous).toEqual([before.current]);
    expect(after.current).not.toEqual(before.current);
  });

  test('the pointer of masters ends after a day, and the next command makes another; that of workers stays', async () => {
    const nextDay = fakeHost({ disk: copyOf(finished), start: '2026-01-02T00:00:00Z', seed: 'another seed' });
    await create(nextDay);
    const [before, after] = [visible(finished), visible(nextDay.disk)];
    const changed = Object.keys(after).filter((path) => after[path] !== before[path]);
    expect(changed.sort()).toEqual([
      'auth/master-join-keys.json',
      'bootstrap.ign',
      'manifests/pool-tokens.yaml',
      'master.ign',
    ]);
    const keys = JSON.parse(before['auth/master-join-keys.json'] ?? '') as { current: { notAfter: string } };
    expect(keys.current.notAfter).toBe('2026-01-02T00:00:00.000Z');
  });

  test('one more worker changes the inventory and bootstrap.ign, and no key, certificate or kubeconfig', async () => {
    const host = again();
    await edit(host, 'install-config.yaml', (text) => text.replace('replicas: 1', 'replicas: 2'));
    await create(host);
    const before = visible(finished);
    const after = visible(host.disk);
    const changed = Object.keys(after).filter((path) => after[path] !== before[path]);
    expect(changed.sort()).toEqual([
      'bootstrap.ign',
      'install-config.yaml',
      'inventory.json',
      'manifests/cluster-config.yaml',
      'manifests/machine-inventory.yaml',
    ]);
  });

  test('without its journal, every file is kept as the person’s own', async () => {
    const host = again();
    await host.files.remove(`${dir}/.firstlight/journal`);
    await create(host);
    expect(visible(host.disk)).toEqual(visible(finished));
  });

  test('the journal cut at any line loses no file and no key', async () => {
    const journal = await again().files.readText(`${dir}/.firstlight/journal`);
    const cuts = [...journal.matchAll(/\n/g)].flatMap(({ index }) => [index + 1, index - 40]);
    for (const cut of cuts.filter((_, index) => index % 7 === 0)) {
      const host = again();
      await host.files.write(`${dir}/.firstlight/journal`, journal.slice(0, cut));
      await create(host);
      expect(visible(host.disk)).toEqual(visible(finished));
    }
  });

  test('a second command in the same folder is refused while the first one works', async () => {
    const host = again();
    host.disk.locked.add(dir);
    await expect(create(host)).rejects.toMatchObject({ code: 'ASSET_BUSY', exit: 4 });
    expect(host.disk.changes).toBe(0);
  });

  test('a folder of openshift-install is left alone', async () => {
    const host = fakeHost();
    await host.files.makeFolder(dir);
    await host.files.write(`${dir}/.openshift_install_state.json`, '{}');
    await expect(create(host)).rejects.toMatchObject({ code: 'ASSET_FOREIGN' });
    expect(Object.keys(visible(host.disk))).toEqual(['.openshift_install_state.json']);
  });

  test('a full disk is one clear error, and the same command finishes when there is room', async () => {
    const host = fakeHost();
    host.disk.isFull = true;
    await expect(create(host)).rejects.toMatchObject({ code: 'HOST_FILE', exit: 4 });
    host.disk.isFull = false;
    await create(host);
    expect(Object.keys(visible(host.disk)).sort()).toEqual(Object.keys(visible(finished)).sort());
  });
});

test('a pull secret is in bootstrap.ign, for its kubelet and to be handed on, and in nothing else that is made or said', async () => {
  const host = again();
  const auth = Buffer.from('u:opensesame').toString('base64');
  const secret = JSON.stringify({ auths: { 'registry.test': { auth } } });
  await edit(host, 'install-config.yaml', (text) => `${text}pullSecret: '${secret}'\n`);
  const { events } = await create(host, 'ignition-configs');
  const forms = [auth, 'opensesame', encodeURIComponent(secret), Buffer.from(secret).toString('base64')];
  const isSaidIn = (text: string): boolean => forms.some((form) => text.includes(form));
  const files = [...host.disk.nodes].flatMap(([path, node]) => (node.kind === 'file' ? [{ path, ...node }] : []));
  const holders = files.filter(({ content }) => isSaidIn(content.toString('utf8')));
  const [ignition, given, ...others] = holders.sort((a, b) => a.path.localeCompare(b.path));
  expect(ignition).toMatchObject({ path: `${dir}/bootstrap.ign`, mode: 0o600 });
  expect(given?.path).toBe(`${dir}/install-config.yaml`);
  expect(others).toEqual([]);
  expect(isSaidIn(JSON.stringify(events))).toBe(false);
  const { storage } = JSON.parse(await host.files.readText(`${dir}/bootstrap.ign`)) as IgnitionConfig;
  const kept = '/opt/firstlight/config-server/pull-secret.json';
  expect(storage?.files?.filter(({ contents }) => isSaidIn(contents?.source ?? ''))).toMatchObject([
    { path: kept, mode: 0o600, contents: { source: dataUrl(secret) } },
  ]);
  expect(storage?.links).toMatchObject([{ path: '/var/lib/kubelet/config.json', target: kept }]);
});

describe('create, killed', () => {
  test('at any change, the same command ends with a complete folder, and every key that was there is still there', async () => {
    const total = await (async () => {
      const host = fakeHost();
      await create(host);
      return host.disk.changes;
    })();
    // Every change in ./check --long; elsewhere a stride that is prime, so that every kind of change is hit.
    const stride = process.env['FIRSTLIGHT_LONG'] === '1' ? 1 : 7;
    for (let crashAt = 1; crashAt <= total; crashAt += stride) {
      const first = fakeHost({ seed: `first ${crashAt}` });
      first.disk.crashAt = crashAt;
      await expect(create(first)).rejects.toBeInstanceOf(Crash);
      const seen = visible(first.disk);
      const disk = copyOf(first.disk);
      const second = fakeHost({ disk, seed: `second ${crashAt}` });
      const { created } = await create(second);
      const after = visible(disk);
      for (const path of Object.keys(seen).filter((name) => !name.startsWith('.firstlight/staging'))) {
        expect(after[path], `${path} after a crash at change ${crashAt}`).toBe(seen[path]);
      }
      expect(Object.keys(after).sort()).toEqual(Object.keys(visible(finished)).sort());
      expect(created.value(installConfig).metadata.name).toBe('demo');
    }
  });
});
