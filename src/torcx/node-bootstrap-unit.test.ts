import { expect, test } from 'vitest';
import { kubeletGate, nodeBootstrapUnit } from './node-bootstrap-unit.ts';

test('the unit runs once, before the kubelet, and again after a failure', () => {
  const { name, enabled, contents } = nodeBootstrapUnit({
    program: '/opt/firstlight/firstlight',
    upgradesOs: true,
    skipsSetup: false,
    manifestUrl: 'https://x/{{.Board}}/100%/$a b',
  });
  expect({ name, enabled }).toEqual({ name: 'k8s-node-bootstrap.service', enabled: true });
  expect(contents).toContain('ConditionPathExists=|!/etc/kubernetes/kubelet.env\n');
  expect(contents).toContain('ConditionPathExists=|/run/firstlight/torcx-reboot-owed\n');
  expect(contents).toContain('Before=kubelet.service\n');
  expect(contents).toContain('Restart=on-failure\n');
  expect(contents).toContain('"--torcx-manifest-url=https://x/{{.Board}}/100%%/$$a b"');
  expect(kubeletGate.dropins?.[0]?.contents).toContain('EnvironmentFile=/etc/kubernetes/kubelet.env\n');
});
