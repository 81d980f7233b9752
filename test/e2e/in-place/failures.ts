// Attempts that do not end well, on real machines: each ends in a failure that says its name, and the machine works as before
// in the same boot. The limits of phases are minutes: the clock of an attempt is put back on its host.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type InPlaceAttempt,
  inPlaceFactsConfigMap,
  inPlaceFactsSchema,
  inPlaceFiles,
  inPlaceNamespace,
  inPlaceUnits,
  payloadPath,
  scheduledValue,
  scheduleLabels,
} from '../../../src/contract/in-place.ts';
import { exitCodes } from '../../../src/errors/exit-codes.ts';
import type { KubernetesObject } from '../../../src/kubernetes/object.ts';
import {
  applyObjects,
  type ConfigCluster,
  eventuallySeen,
  liveFolder,
  type NodeSight,
  nodeSights,
  pause,
  removeMachineConfigs,
  rollOut,
  withApi,
  workers,
} from '../machine-config/config-lab.ts';
import { cli, inside, startCli } from '../machine-lab.ts';
import { nodeVersion } from './api-record.ts';
import {
  attemptsOf,
  inPlaceConfig,
  inPlaceFile,
  leftOnHost,
  nodeReference,
  onlyTheState,
  prepare,
  setPaused,
  start,
  targetInPlace,
  untilEnded,
  untilPhase,
} from './in-place-lab.ts';

const node = 'worker-0';
const [label] = scheduleLabels;

/** Nobody can remove the label: the controller asks for it in vain. */
const policyName = 'proof-label-stays';
const admission = { apiVersion: 'admissionregistration.k8s.io/v1', metadata: { name: policyName } } as const;
const policy: KubernetesObject = {
  ...admission,
  kind: 'ValidatingAdmissionPolicy',
  spec: {
    matchConstraints: {
      resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['nodes'] }],
    },
    validations: [{ expression: `!('${label}' in oldObject.metadata.labels) || '${label}' in object.metadata.labels` }],
  },
};
const binding: KubernetesObject = {
  ...admission,
  kind: 'ValidatingAdmissionPolicyBinding',
  spec: { policyName, validationActions: ['Deny'] },
};

export function inPlaceFailuresTopic(cluster: ConfigCluster): void {
  const on = (script: string): Promise<string> => inside(cluster.infraId(), node, script);
  let before: NodeSight;

  /** The machine is the member that it was, with nothing of the attempt beside it. */
  async function expectAsBefore(attempt: InPlaceAttempt): Promise<void> {
    const now = await eventuallySeen(cluster, { what: `that ${node} is Done`, seconds: 30 }, async (api) =>
      (await nodeSights(api, [node])).find(({ state }) => state === 'Done'),
    );
    expect([now.current, now.bootId, now.reason]).toEqual([before.current, before.bootId, '']);
    expect(await on('systemctl is-active firstlight-agent.service kubelet.service')).toBe('active\nactive\n');
    expect(await on(`ls ${inPlaceFile('never')} 2>/dev/null || echo gone`)).toBe('gone\n');
    expect(await leftOnHost(on, attempt)).toMatch(onlyTheState);
  }

  const free = (name: string): Promise<unknown> =>
    withApi(cluster, (api) =>
      api.mergePatch(nodeReference(name), { metadata: { labels: { [label]: null } }, spec: { unschedulable: null } }),
    );

  beforeAll(async () => {
    await targetInPlace(cluster, 'never');
    const [seen] = await withApi(cluster, (api) => nodeSights(api, [node]));
    if (seen === undefined) throw new Error(`there is no ${node}`);
    before = seen;
  });

  afterAll(async () => {
    for (const name of workers) await free(name);
    await setPaused(cluster, false);
    await rollOut(cluster, { seconds: 60 }, () => removeMachineConfigs(cluster, inPlaceConfig('never').name));
  });

  describe('a label that cannot be removed', () => {
    let attemptId: string;

    beforeAll(async () => {
      await applyObjects(cluster, policy, binding);
      attemptId = await prepare(cluster, node);
      await start(cluster, node);
      await untilPhase(cluster, { attemptId, phase: 'KubeletStopped', seconds: 60 });
      await pause(2_000);
    });

    afterAll(async () => {
      await withApi(cluster, async (api) => {
        await api.delete({ ...admission, kind: binding.kind, name: policyName });
        await api.delete({ ...admission, kind: policy.kind, name: policyName });
      });
      await eventuallySeen(cluster, { what: 'that the label can be removed', seconds: 30 }, () => free(node));
    });

    test('25: is waited for while the kubelet is held, and ends as LabelClearTimeout with the kubelet as before', async () => {
      expect(await on('systemctl is-active kubelet.service || true')).toBe('inactive\n');
      const unit = inPlaceUnits.run(attemptId);
      const long = `sed -i 's/"since": "[^"]*"/"since": "2020-01-01T00:00:00Z"/' ${inPlaceFiles.state}`;
      await on(`systemctl kill --signal=KILL ${unit} && ${long}`);
      const attempt = await untilEnded(cluster, attemptId, 60);
      expect([attempt.status.phase, attempt.status.failure?.code]).toEqual(['Failed', 'LabelClearTimeout']);
      await expectAsBefore(attempt);
      const { labels, isCordoned } = await withApi(cluster, async (api) =>
        nodeVersion(await api.get(nodeReference(node))),
      );
      expect([labels[label], isCordoned]).toEqual([scheduledValue, true]);
    });

    test('a person ends the next attempt where it waits, and the kubelet runs again', async () => {
      // The label is still there: a new Secret is all it takes.
      const next = await prepare(cluster, node);
      await untilPhase(cluster, { attemptId: next, phase: 'KubeletStopped', seconds: 60 });
      await cli('ipb', 'abort', node, '--dir', cluster.dir);
      const attempt = await untilEnded(cluster, next, 60);
      expect([attempt.status.phase, attempt.status.failure?.code]).toEqual(['Failed', 'Aborted']);
      await expectAsBefore(attempt);
    });
  });

  test('a configuration that cannot be written is undone: RolledBack, with path and reason', async () => {
    await on(`mkdir -p ${liveFolder} && mount -t tmpfs -o ro tmpfs ${liveFolder}`);
    const attemptId = await prepare(cluster, node);
    await start(cluster, node);
    const attempt = await untilEnded(cluster, attemptId, 90);
    await on(`umount ${liveFolder}`);
    const { phase, failure } = attempt.status;
    expect([phase, failure?.phase, failure?.code]).toEqual(['RolledBack', 'Applying', 'NotApplied']);
    expect(failure?.message).toContain(inPlaceFile('never'));
    await expectAsBefore(attempt);
  });

  test('two nodes of a pool that fail in a row stop the line, by name and exit code', async () => {
    const facts = await withApi(cluster, async (api) => {
      const reference = { apiVersion: 'v1', kind: 'ConfigMap', namespace: inPlaceNamespace };
      const { data } = await api.get({ ...reference, name: inPlaceFactsConfigMap.name });
      return inPlaceFactsSchema.parse(JSON.parse((data as Record<string, string>)[inPlaceFactsConfigMap.key] ?? ''));
    });
    const [tokenFile, caFile] = [join(cluster.folder, 'payload.token'), join(cluster.folder, 'payload.ca')];
    writeFileSync(tokenFile, 'of-nobody\n');
    writeFileSync(caFile, facts.serviceCa);
    const service = ['--payload-url', `${facts.serviceUrl}${payloadPath}-of-nobody`];
    const access = ['--payload-token-file', tokenFile, '--payload-ca-file', caFile];
    const args = ['ipb', 'start', '--pool', 'worker', '--os', 'rhel', ...service, ...access, '--dir', cluster.dir];
    const { code, stderr } = await startCli(args).outcome;
    expect(code).toBe(exitCodes.notStable);
    expect(stderr).toContain('0 of 2 succeeded; 2 failures in a row');
    for (const worker of workers) {
      const attempt = (await withApi(cluster, (api) => attemptsOf(api, worker))).at(-1);
      expect(attempt?.status.phase).toBe('PreflightFailed');
      const failed = attempt?.status.report.preflight.filter(({ outcome }) => outcome === 'failed') ?? [];
      expect(failed.map(({ id }) => id)).toContain('P08');
    }
  });
}
