// Puts what stages have rendered into the API. Everything is there in the end, or the error names each object that is
// not, with its file and the reason. Nothing is undone: the next run finds what is there and goes on.
import { payloadAnnotations, versionOperator } from '../contract/cluster-version.ts';
import { waitingFor } from '../contract/missing.ts';
import { type AppliedObject, applyManifests } from '../kubernetes/apply.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import { type KubernetesObject, referenceText } from '../kubernetes/object.ts';
import type { StageTools } from '../workflow/stage.ts';
import type { BootkubeContext } from './context.ts';
import { bootkubeErrors } from './errors.ts';
import { type RenderedPlace, renderedManifests } from './rendered-manifests.ts';

/** For all objects together. Where the API is slow or away for longer, the next run goes on. */
const deadlineMs = 60_000;
/** Nothing that runs at that time brings a kind or a namespace that no manifest defines. */
const strangersMs = 5_000;
/** What is expected to take a moment is not worth a word, such as a definition on its way. */
const silentMs = 3_000;

/** Returns how many objects are in the API. */
export async function applyRendered(
  context: BootkubeContext,
  client: KubernetesClient,
  { places, tools }: { readonly places: readonly RenderedPlace[]; readonly tools: StageTools },
): Promise<number> {
  // A cluster that is brought back has its objects, as they were last: nothing of them is written over.
  if (context.restore !== undefined) return 0;
  const { host } = context;
  const startMs = host.clock.monotonicMs();
  const report = await applyManifests({
    client,
    host,
    manifests: await renderedManifests(context, places),
    managerOf,
    deadlineMs,
    strangersMs,
    signal: tools.signal,
    onWaiting: (waiting) => {
      if (host.clock.monotonicMs() - startMs > silentMs) tools.report({ missing: waiting.map(missingObject) });
    },
  });
  if (!report.isComplete) throw bootkubeErrors.NOT_APPLIED({ missing: report.missing });
  // Two files may bring the same object.
  return new Set(report.objects.map(({ object, source }) => (object === undefined ? source : referenceText(object))))
    .size;
}

/** What the release brings is the version operator's from the beginning: it must be able to take fields away later. */
function managerOf({ metadata }: KubernetesObject): string | undefined {
  return metadata.annotations?.[payloadAnnotations.include] === undefined ? undefined : versionOperator.name;
}

function missingObject({ object, source, reason }: AppliedObject) {
  const name = object === undefined ? source : `${referenceText(object)} (${source})`;
  return waitingFor(name, 'is not in the API', reason === undefined ? {} : { detail: reason });
}
