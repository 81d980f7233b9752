// Stage 14: the overrides of the user: objects that the version operator must not manage. They are applied only now,
// because during the bootstrap all objects of the release must exist.
import { handoffMark } from '../../contract/bootstrap-paths.ts';
import { clusterVersionReference } from '../../contract/cluster-version.ts';
import { pkiFolder } from '../../control-plane/control-plane-paths.ts';
import { digestOf } from '../../workflow/digest.ts';
import { firstClient } from '../api-clients.ts';
import type { ClusterVersion } from '../cluster-version.ts';
import type { BootkubeContext } from '../context.ts';
import { type NumberedStage, type StageCheck, verifyStage } from '../render-stage.ts';
import { renderedManifests } from '../rendered-manifests.ts';

const areInForce: StageCheck = {
  name: 'the ClusterVersion has the overrides of the user, and no other',
  run: async (context) => {
    await using client = await firstClient(context.host, pkiFolder);
    const { spec } = await client.get<ClusterVersion>(clusterVersionReference);
    const [live, wanted] = [spec?.overrides ?? [], await wantedOverrides(context)].map(canonicalOverrides);
    return live === wanted ? undefined : `it has ${live}, the manifests say ${wanted}`;
  },
};

export const versionOverrides: NumberedStage = {
  number: 14,
  name: 'version-overrides',
  why: 'Puts the version overrides of your manifests into the ClusterVersion: objects that you marked as unmanaged stay yours.',
  inputs: ['01-manifests'],
  outputs: ['ClusterVersion version'],
  observe: async (context, last) => {
    if ((await context.host.files.facts(handoffMark)) !== undefined) return { status: 'done' };
    // What the user has changed since is in the snapshot.
    if (context.restore !== undefined) return { status: 'done' };
    const wanted = JSON.stringify(await wantedOverrides(context));
    const isDone = last?.outputs['overrides'] === digestOf(wanted);
    return isDone ? { status: 'done' } : { status: 'needed', because: 'the overrides are not in place' };
  },
  run: async (context, { signal }) => {
    const overrides = await wantedOverrides(context);
    if (overrides.length > 0) {
      await using client = await firstClient(context.host, pkiFolder);
      await client.mergePatch(clusterVersionReference, { spec: { overrides } }, { signal });
    }
    await verifyStage(context, versionOverrides);
    const outputs = { overrides: digestOf(JSON.stringify(overrides)) };
    return {
      outputs,
      note: overrides.length === 0 ? 'the user set none' : `${overrides.length} overrides`,
    };
  },
  verify: [areInForce],
};

/** The overrides of a ClusterVersion that the user added to the manifests. */
async function wantedOverrides(context: BootkubeContext): Promise<readonly object[]> {
  const manifests = await renderedManifests(context, [{ number: 1, name: 'manifests' }]);
  const objects = manifests.map(({ value }) => value as ClusterVersion);
  return objects
    .filter(({ kind }) => kind === clusterVersionReference.kind)
    .flatMap(({ spec }) => spec?.overrides ?? []);
}

/** The API may store the fields of an override in another order. */
function canonicalOverrides(overrides: readonly object[]): string {
  return JSON.stringify(overrides.map((each) => Object.entries(each).sort(([one], [other]) => (one < other ? -1 : 1))));
}
