// No container of the control plane can open a key that is not its own. Seen through the eyes of the process in each
// container: its mount namespace, its user, its groups, its (absence of) capabilities. On every master.
import { expect, test } from 'vitest';
import { masters } from '../fire/fire-cluster.ts';
import { inside } from '../machine-lab.ts';
import type { TrustCluster } from './trust-cluster.ts';

interface Expected {
  /** The name of its process, which the kernel cuts to 15 characters. */
  readonly process: string;
  readonly uid: number;
  readonly keys: readonly string[];
}

const inFolder = (component: string, ...names: readonly string[]): readonly string[] =>
  names.map((name) => `/etc/kubernetes/${component}/${name}.key`);

const containers: readonly Expected[] = [
  { process: 'etcd', uid: 60_711, keys: inFolder('etcd', 'etcd-peer', 'etcd-server') },
  {
    process: 'kube-apiserver',
    uid: 60_712,
    keys: inFolder(
      'kube-apiserver',
      'apiserver-etcd-client',
      'apiserver-kubelet-client',
      'front-proxy-client',
      'kube-apiserver',
      'service-account',
    ),
  },
  {
    process: 'kube-controller',
    uid: 60_713,
    keys: inFolder('kube-controller-manager', 'kube-controller-manager', 'kubelet-signer', 'service-account'),
  },
  { process: 'kube-scheduler', uid: 60_714, keys: inFolder('kube-scheduler', 'kube-scheduler') },
];

const privateKey = '^-----BEGIN ([A-Z]+ )?PRIVATE KEY-----';

/** Every file with a private key below these places of a machine, as root finds them. */
const keysBelow = (...places: readonly string[]): string =>
  `grep -rlIE --devices=skip '${privateKey}' ${places.join(' ')} 2>/dev/null | sort`;

/** What the machine writes to, and where its programs are configured. */
const machinePlaces = ['/etc', '/opt', '/root', '/run/firstlight', '/var/lib/firstlight', '/var/lib/kubelet/pki'];

const lines = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '');

export function containerKeysTopic(cluster: TrustCluster): void {
  test.each(containers)('$process opens exactly its own private keys', async ({ process, uid, keys }) => {
    for (const master of masters) {
      const all = lines(await inside(cluster.infraId(), master, keysBelow(...machinePlaces)));
      // The look sees what there is: without the signers it would prove nothing.
      expect(all).toEqual(expect.arrayContaining(['/etc/kubernetes/pki/etcd-signer.key', ...keys]));
      const script = [
        `pid=$(pgrep -o -x ${process})`,
        // As the process in the container: its user and group only, no capability, through its own mount namespace.
        `as="setpriv --reuid=${uid} --regid=${uid} --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs"`,
        `for key in ${[...new Set([...all, ...keys])].join(' ')}; do`,
        '  $as head -c 1 /proc/$pid/root$key >/dev/null 2>&1 && echo $key',
        'done; true',
      ].join('\n');
      expect(lines(await inside(cluster.infraId(), master, script)), master).toEqual([...keys].sort());
    }
  });

  test.each(containers)('no other key is anywhere in the container of $process', async ({ process, keys }) => {
    for (const master of masters) {
      const look = `cd /proc/$(pgrep -o -x ${process})/root && ${keysBelow('$(ls -d * | grep -vxE "proc|sys|dev")')}`;
      const found = lines(await inside(cluster.infraId(), master, look)).map((path) => `/${path}`);
      expect(found, master).toEqual([...keys].sort());
    }
  });

  test.each(containers)(
    '$process runs as its own user, without capabilities, in a seccomp profile',
    async (expected) => {
      for (const master of masters) {
        const look = `cat /proc/$(pgrep -o -x ${expected.process})/status; echo; cat /proc/$(pidof containerd)/status`;
        const [status = '', runtime = ''] = (await inside(cluster.infraId(), master, look)).split('\n\n');
        const field = (name: string, of = status): string =>
          new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(of)?.[1]?.trim() ?? '';
        const four = Array.from({ length: 4 }, () => expected.uid).join('\t');
        expect({ uid: field('Uid'), gid: field('Gid'), groups: field('Groups') }).toEqual({
          uid: four,
          gid: four,
          groups: expect.stringMatching(new RegExp(`^(${expected.uid})?$`)) as string,
        });
        for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) {
          expect([set, field(set)]).toEqual([set, '0000000000000000']);
        }
        expect(field('NoNewPrivs')).toBe('1');
        // The machine has filters of its own, which everything in it inherits.
        expect(Number(field('Seccomp_filters'))).toBeGreaterThan(Number(field('Seccomp_filters', runtime)));
      }
    },
  );

  test('the config server of a master has no capability, so that the keys of the components are closed to it', async () => {
    for (const master of masters) {
      const script = [
        'pid=$(systemctl show --property=MainPID --value machine-config-server.service)',
        'grep -E "^Cap(Prm|Eff|Bnd|Amb)" /proc/$pid/status',
        `as="setpriv --inh-caps=-all --bounding-set=-all --no-new-privs"`,
        'for key in /etc/kubernetes/etcd/*.key /etc/kubernetes/kube-*/*.key; do',
        '  $as head -c 1 /proc/$pid/root$key >/dev/null 2>&1 && echo open $key',
        'done; true',
      ].join('\n');
      const found = lines(await inside(cluster.infraId(), master, script));
      expect(found.map((line) => line.replace(/\s+/g, ' '))).toEqual(
        ['CapPrm', 'CapEff', 'CapBnd', 'CapAmb'].map((set) => `${set}: 0000000000000000`),
      );
    }
  });
}
