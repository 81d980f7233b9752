import { expect, test } from 'vitest';
import { apiserverPod } from './apiserver-pod.ts';

interface Pod {
  readonly spec: {
    readonly containers: readonly [
      {
        readonly command: readonly string[];
        readonly volumeMounts: readonly { mountPath: string; readOnly?: boolean }[];
      },
    ];
  };
}

const pod = apiserverPod({ image: 'k', advertiseAddress: '192.0.2.10', serviceNetwork: '172.30.0.0/16' }) as Pod;
const [{ command, volumeMounts }] = pod.spec.containers;

test('who may come anonymously is in a file, and no flag says otherwise', () => {
  expect(command).toContain('--authentication-config=/etc/kubernetes/kube-apiserver/authentication.yaml');
  expect(command.filter((flag) => flag.startsWith('--anonymous-auth'))).toEqual([]);
});

test('the audit log is bounded', () => {
  expect(command).toEqual(
    expect.arrayContaining(['--audit-log-maxsize=100', '--audit-log-maxbackup=10', '--audit-log-maxage=30']),
  );
});

test('it may write its audit log and nothing else of the machine', () => {
  const writable = volumeMounts.filter(({ readOnly }) => readOnly !== true).map(({ mountPath }) => mountPath);
  expect(writable).toEqual(['/var/log/kube-apiserver']);
});
