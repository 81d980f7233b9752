import { expect, test } from 'vitest';
import { fakeAgent, putRelease } from '../../../test/sim/agent-fixture.ts';
import { podWrittenKey } from '../../contract/timeline.ts';
import { controlPlaneDuty } from './control-plane.ts';

test('the API server comes first, the others when it serves, and a pod that is there is left as it is', async () => {
  let status = 500;
  const agent = fakeAgent({ network: { request: async () => ({ status, headers: {}, body: new Uint8Array() }) } });
  await putRelease(agent);
  const { files } = agent.host;
  await files.makeFolder('/etc/kubernetes/pki');
  await files.write('/etc/kubernetes/pki/apiserver-ca.crt', 'ca');
  const folder = '/etc/kubernetes/manifests';
  await files.write(`${folder}/kube-scheduler-pod.yaml`, 'of an earlier release');
  expect(await controlPlaneDuty.run(agent)).toEqual({
    status: 'acted',
    did: 'started kube-apiserver',
    key: podWrittenKey,
  });
  expect(await files.readText(`${folder}/kube-scheduler-pod.yaml`)).toBe('of an earlier release');
  expect(await files.readText(`${folder}/kube-apiserver-pod.yaml`)).toContain('--advertise-address=10.99.0.12');
  expect(await controlPlaneDuty.run(agent)).toMatchObject({
    status: 'waiting',
    missing: [{ what: expect.stringContaining('500') }],
  });
  status = 200;
  expect(await controlPlaneDuty.run(agent)).toEqual({
    status: 'acted',
    did: 'started kube-controller-manager',
    key: podWrittenKey,
  });
  expect(await controlPlaneDuty.run(agent)).toEqual({ status: 'settled' });
});
