// Stage 14: the overrides of the user: objects that the version operator must not manage. They are applied only now,
// because during the bootstrap all objects of the release must exist.
import { handoffMark } from '../../contract/bootstrap-paths.ts';
import { pkiFolder } from '../../control-plane/control-plane-paths.ts';
import type { KubernetesObject } from '../../kubernetes/object.ts';
import { digestOf } from '../../workflow/digest.ts';
import { firstClient } from '../api-clients.ts';
import type { BootkubeContext } from '../context.ts';
import type { NumberedStage } from '../render-stage.ts';
import { renderedManifests } from '../rendered-manifests.ts';

const reference = { apiVersion: 'config.openshift.io/v1', kind: 'ClusterVersion', name: 'version' } as const;

interface ClusterVersion extends KubernetesObject {
  readonly spec?: { readonly overrides?: readonly object[] };
}

export const versionOverrides: NumberedStage = {
  number: 14,
  name: 'version-overrides',
  why: 'Objects that the user marked as unmanaged must stay so after the bootstrap, and not before.',
  inputs: ['01-manifests'],
  outputs: ['ClusterVersion version'],
  verify: [{ name: 'the API accepted the overrides' }],
  observe: async (context, last) => {
    if ((await context.host.files.facts(handoffMark)) !== undefined) return { status: 'done' };
    const wanted = JSON.stringify(await wantedOverrides(context));
    const isDone = last?.outputs['overrides'] === digestOf(wanted);
    return isDone ? { status: 'done' } : { status: 'needed', because: 'the overrides are not in place' };
  },
  run: async (context, { signal }) => {
    const overrides = await wantedOverrides(context);
    if (overrides.length > 0) {
      await using client = await firstClient(context.host, pkiFolder);
      await client.mergePatch(reference, { spec: { overrides } }, { signal });
    }
    const outputs = { overrides: digestOf(JSON.stringify(overrides)) };
    return {
      outputs,
      note: overrides.length === 0 ? 'the user set none' : `${overrides.length} overrides`,
    };
  },
};

/** The overrides of a ClusterVersion that the user added to the manifests. */
async function wantedOverrides(context: BootkubeContext): Promise<readonly object[]> {
  const manifests = await renderedManifests(context, [{ number: 1, name: 'manifests' }]);
  const objects = manifests.map(({ value }) => value as ClusterVersion);
  return objects.filter(({ kind }) => kind === reference.kind).flatMap(({ spec }) => spec?.overrides ?? []);
}
