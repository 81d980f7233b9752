import { expect, test } from 'vitest';
import { realHost } from '../host/real/real-host.ts';
import { type ApplyEvent, applyManifests } from './apply.ts';
import { connectKubernetes } from './client.ts';

// What needs an API is in test/oracle/kubernetes.test.ts.
test('while the API is away nothing is refused, and those whose turn has not come are named too', async () => {
  const host = realHost();
  const config = {
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:2' } }],
    users: [{ name: 'u', user: {} }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'c',
  };
  await using client = await connectKubernetes(host, { text: JSON.stringify(config) });
  const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'n' } });
  const events: ApplyEvent[] = [];
  const report = await applyManifests({
    client,
    host,
    manifests: Array.from({ length: 10 }, (_, n) => ({ source: `${n}.yaml`, value: configMap(`c${n}`) })),
    deadlineMs: 300,
    onEvent: (event) => events.push(event),
  });
  expect(report.isComplete).toBe(false);
  expect(report.objects.map(({ state }) => state)).toEqual(Array.from({ length: 10 }, () => 'waiting'));
  expect(report.missing[0]).toBe(
    'ConfigMap n/c0 (0.yaml): cannot read ConfigMap n/c0: https://127.0.0.1:2: connection refused',
  );
  expect(report.missing[9]).toBe('ConfigMap n/c9 (9.yaml): its turn has not come');
  expect(new Set(events.map(({ level }) => level))).toEqual(new Set(['debug']));
});
