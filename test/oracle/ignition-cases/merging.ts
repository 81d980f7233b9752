// Merging, rule by rule: what a parent says, what its child says, and what is left of both.
import type { SpecVersion } from '../../../src/ignition/spec-version.ts';

export interface MergeCase {
  readonly title: string;
  readonly parent: string;
  readonly child: string;
  /** The merged config without its `ignition.version`. */
  readonly merged: object;
}

interface Pair {
  readonly parent: object;
  readonly child: object;
  readonly merged: object;
  readonly childSpec?: SpecVersion;
}

function merging(title: string, { parent, child, merged, childSpec = '3.5.0' }: Pair): MergeCase {
  return { title, parent: text(parent, '3.5.0'), child: text(child, childSpec), merged };
}

function text(body: object, spec: SpecVersion): string {
  const { ignition = {}, ...rest } = body as { readonly ignition?: object };
  return JSON.stringify({ ignition: { version: spec, ...ignition }, ...rest });
}

const files = (...list: object[]) => ({ storage: { files: list } });
const contents = (resource: object) => files({ path: '/a', contents: resource });
const hash = `sha256-${'0'.repeat(64)}`;

export const mergeCases: readonly MergeCase[] = [
  merging('a child that says nothing changes nothing', {
    parent: files({ path: '/a', mode: 0 }),
    child: {},
    merged: files({ path: '/a', mode: 0 }),
  }),
  merging('a parent that says nothing is replaced', {
    parent: {},
    child: files({ path: '/a' }),
    merged: files({ path: '/a' }),
  }),
  merging('false, 0 and "" override; null and absence inherit', {
    parent: { passwd: { users: [{ name: 'a', uid: 5, gecos: 'g', system: true, shell: '/s', homeDir: '/h' }] } },
    child: { passwd: { users: [{ name: 'a', uid: 0, gecos: '', system: false, shell: null }] } },
    merged: { passwd: { users: [{ name: 'a', uid: 0, gecos: '', system: false, shell: '/s', homeDir: '/h' }] } },
  }),
  merging('entries of a keyed list merge in place; new ones follow in the order of the child', {
    parent: files({ path: '/a', mode: 1 }, { path: '/b', mode: 2 }, { path: '/c', mode: 3 }),
    child: files({ path: '/d' }, { path: '/b', mode: 5 }, { path: '/a', user: { id: 1 } }),
    merged: files(
      { path: '/a', mode: 1, user: { id: 1 } },
      { path: '/b', mode: 5 },
      { path: '/c', mode: 3 },
      { path: '/d' },
    ),
  }),
  merging('contents merge field by field: a new source inherits the old hash', {
    parent: contents({ source: 'data:,a', compression: '', verification: { hash } }),
    child: contents({ source: 'data:,b' }),
    merged: contents({ source: 'data:,b', compression: '', verification: { hash } }),
  }),
  merging('an entry moves to another list of the same namespace', {
    parent: { storage: { files: [{ path: '/a', mode: 1 }, { path: '/b' }], directories: [{ path: '/d' }] } },
    child: { storage: { links: [{ path: '/a', target: '/b' }], files: [{ path: '/d' }] } },
    merged: { storage: { files: [{ path: '/b' }, { path: '/d' }], links: [{ path: '/a', target: '/b' }] } },
  }),
  merging('append grows and repeats', {
    parent: files({ path: '/a', append: [{ source: 'data:,1' }] }),
    child: files({ path: '/a', append: [{ source: 'data:,1' }, { source: 'data:,2' }] }),
    merged: files({ path: '/a', append: [{ source: 'data:,1' }, { source: 'data:,1' }, { source: 'data:,2' }] }),
  }),
  merging('drop-ins merge by name', {
    parent: {
      systemd: {
        units: [
          { name: 'a.service', enabled: true, dropins: [{ name: '1.conf' }, { name: '2.conf', contents: '[A]' }] },
        ],
      },
    },
    child: {
      systemd: { units: [{ name: 'a.service', dropins: [{ name: '3.conf' }, { name: '2.conf', contents: '[B]' }] }] },
    },
    merged: {
      systemd: {
        units: [
          {
            name: 'a.service',
            enabled: true,
            dropins: [{ name: '1.conf' }, { name: '2.conf', contents: '[B]' }, { name: '3.conf' }],
          },
        ],
      },
    },
  }),
  merging('keys and groups of a user are united', {
    parent: {
      passwd: {
        users: [{ name: 'a', sshAuthorizedKeys: ['k1', 'k2'], groups: ['g'] }],
        groups: [{ name: 'x', gid: 1 }],
      },
    },
    child: {
      passwd: {
        users: [{ name: 'a', sshAuthorizedKeys: ['k2', 'k3'], groups: ['h'] }],
        groups: [{ name: 'x', system: true }],
      },
    },
    merged: {
      passwd: {
        users: [{ name: 'a', sshAuthorizedKeys: ['k1', 'k2', 'k3'], groups: ['g', 'h'] }],
        groups: [{ name: 'x', gid: 1, system: true }],
      },
    },
  }),
  merging('kernel arguments move between their lists', {
    parent: { kernelArguments: { shouldExist: ['a', 'b'], shouldNotExist: ['c'] } },
    child: { kernelArguments: { shouldExist: ['c', 'd'], shouldNotExist: ['a'] } },
    merged: { kernelArguments: { shouldExist: ['b', 'c', 'd'], shouldNotExist: ['a'] } },
  }),
  merging('a list that loses its last entry is gone', {
    parent: { kernelArguments: { shouldExist: ['a'] } },
    child: { kernelArguments: { shouldNotExist: ['a'] } },
    merged: { kernelArguments: { shouldNotExist: ['a'] } },
  }),
  merging('a header without a value deletes the inherited one', {
    parent: contents({
      source: 'http://a',
      httpHeaders: [
        { name: 'A', value: '1' },
        { name: 'B', value: '2' },
        { name: 'C', value: '3' },
      ],
    }),
    child: contents({
      source: 'http://b',
      httpHeaders: [{ name: 'B' }, { name: 'C', value: '4' }, { name: 'b', value: '5' }],
    }),
    merged: contents({
      source: 'http://b',
      httpHeaders: [
        { name: 'A', value: '1' },
        { name: 'C', value: '4' },
        { name: 'b', value: '5' },
      ],
    }),
  }),
  merging('a header without a value and without a counterpart stays', {
    parent: contents({ source: 'http://a' }),
    child: contents({ source: 'http://a', httpHeaders: [{ name: 'B' }] }),
    merged: contents({ source: 'http://a', httpHeaders: [{ name: 'B' }] }),
  }),
  merging('proxies: scalars override, noProxy is united; timeouts override', {
    parent: { ignition: { proxy: { httpProxy: 'http://a', noProxy: ['a', 'b'] }, timeouts: { httpTotal: 5 } } },
    child: {
      ignition: {
        proxy: { httpsProxy: 'https://b', noProxy: ['b', 'c'] },
        timeouts: { httpTotal: 0, httpResponseHeaders: 1 },
      },
    },
    merged: {
      ignition: {
        proxy: { httpProxy: 'http://a', httpsProxy: 'https://b', noProxy: ['a', 'b', 'c'] },
        timeouts: { httpTotal: 0, httpResponseHeaders: 1 },
      },
    },
  }),
  merging('partitions merge by number, else by label', {
    parent: {
      storage: {
        disks: [
          {
            device: '/d',
            wipeTable: true,
            partitions: [
              { number: 1, label: 'a', sizeMiB: 1 },
              { label: 'b', sizeMiB: 2 },
            ],
          },
        ],
      },
    },
    child: {
      storage: {
        disks: [{ device: '/d', partitions: [{ number: 1, sizeMiB: 3 }, { label: 'b', guid: '' }, { label: 'c' }] }],
      },
    },
    merged: {
      storage: {
        disks: [
          {
            device: '/d',
            wipeTable: true,
            partitions: [{ number: 1, label: 'a', sizeMiB: 3 }, { label: 'b', sizeMiB: 2, guid: '' }, { label: 'c' }],
          },
        ],
      },
    },
  }),
  merging('arrays and filesystems: options repeat, devices do not', {
    parent: {
      storage: {
        raid: [{ name: 'm', level: 'raid1', devices: ['/a', '/b'], options: ['x'] }],
        filesystems: [{ device: '/a', format: 'xfs', options: ['x'], mountOptions: ['y'] }],
      },
    },
    child: {
      storage: {
        raid: [{ name: 'm', level: 'raid5', devices: ['/b', '/c'], options: ['x'] }],
        filesystems: [{ device: '/a', format: 'xfs', options: ['x'], mountOptions: ['y'], path: '/p' }],
      },
    },
    merged: {
      storage: {
        raid: [{ name: 'm', level: 'raid5', devices: ['/a', '/b', '/c'], options: ['x', 'x'] }],
        filesystems: [{ device: '/a', format: 'xfs', options: ['x', 'x'], mountOptions: ['y', 'y'], path: '/p' }],
      },
    },
  }),
  merging('encrypted devices: options repeat, open options do not, tang servers merge by URL', {
    parent: {
      storage: {
        luks: [
          {
            name: 'l',
            device: '/a',
            options: ['x'],
            openOptions: ['o'],
            clevis: { tpm2: true, tang: [{ url: 'http://a', thumbprint: 't' }] },
          },
        ],
      },
    },
    child: {
      storage: {
        luks: [
          {
            name: 'l',
            device: '/b',
            options: ['x'],
            openOptions: ['o', 'p'],
            clevis: {
              threshold: 2,
              tang: [
                { url: 'http://a', thumbprint: 'u' },
                { url: 'http://b', thumbprint: 'v' },
              ],
            },
          },
        ],
      },
    },
    merged: {
      storage: {
        luks: [
          {
            name: 'l',
            device: '/b',
            options: ['x', 'x'],
            openOptions: ['o', 'p'],
            clevis: {
              tpm2: true,
              threshold: 2,
              tang: [
                { url: 'http://a', thumbprint: 'u' },
                { url: 'http://b', thumbprint: 'v' },
              ],
            },
          },
        ],
      },
    },
  }),
  merging('an older child is converted first: its link without a target has an empty one', {
    parent: { storage: { links: [{ path: '/a', target: '/b' }] } },
    child: { storage: { links: [{ path: '/b' }] } },
    childSpec: '3.2.0',
    merged: {
      storage: {
        links: [
          { path: '/a', target: '/b' },
          { path: '/b', target: '' },
        ],
      },
    },
  }),
  merging('an id from one and a name from the other make an invalid config', {
    parent: files({ path: '/a', user: { id: 1 } }),
    child: files({ path: '/a', user: { name: 'core' } }),
    merged: files({ path: '/a', user: { id: 1, name: 'core' } }),
  }),
];
