// What the API says about itself and its objects. A kind that the API does not know is nothing that is missing: a
// cluster that is being made learns them one after the other.
import { isError } from '../../../errors/firstlight-error.ts';
import type { KubernetesClient } from '../../../kubernetes/client.ts';
import { kubernetesErrors } from '../../../kubernetes/errors.ts';
import type { KubernetesObject } from '../../../kubernetes/object.ts';
import type { BundleContents } from '../../bundle-contents.ts';
import { fewAtATime } from '../../few-at-a-time.ts';
import { troubleText } from '../../trouble-text.ts';
import type { ClusterCollector } from '../cluster-collector.ts';
import { isOwnNamespace, type ResourceKind, resourceFile, resourceKinds } from '../resource-kinds.ts';

const together = 8;

const endpoints = { readyz: '/readyz?verbose', livez: '/livez?verbose', version: '/version' } as const;

export const resourcesCollector: ClusterCollector = {
  name: 'resources',
  takes: 'objects and events of the API, its version and health; never Secrets, no values of environment variables',
  collect: async ({ connect, signal, patienceMs }, contents) => {
    await using client = await connect();
    const call = { signal, deadlineMs: patienceMs };
    // Where the API does not answer, this throws, and no kind is asked for.
    for (const [name, path] of Object.entries(endpoints)) {
      const { status, text } = await client.getRaw(path, call);
      contents.add(`resources/${name}.txt`, `${status}\n${text}\n`);
    }
    await fewAtATime(resourceKinds, together, (kind) => takeKind(client, kind, { contents, call }));
  },
};

interface TakeKind {
  readonly contents: BundleContents;
  readonly call: { readonly signal: AbortSignal; readonly deadlineMs: number };
}

async function takeKind(client: KubernetesClient, kind: ResourceKind, { contents, call }: TakeKind): Promise<void> {
  const file = resourceFile(kind);
  try {
    const options = { ...call, ...(kind.isMetadataOnly === true ? { isMetadataOnly: true } : {}) };
    const { items } = await client.list(kind, {}, options);
    const taken = items.filter(({ metadata }) => kind.isOwnOnly !== true || isOwnNamespace(metadata.namespace ?? ''));
    if (taken.length === 0) return;
    const { apiVersion } = kind;
    contents.add(`resources/${file}.json`, JSON.stringify({ apiVersion, kind: `${kind.kind}List`, items: taken }));
    if (kind.kind === 'Event') contents.add('resources/events.txt', eventLines(taken));
  } catch (error) {
    if (isError(error, kubernetesErrors.NO_SUCH_KIND)) return contents.note(`the API does not know ${kind.kind}`);
    if (call.signal.aborted) return contents.miss(`resources/${file}.json`, 'the time was over');
    contents.miss(`resources/${file}.json`, troubleText(error));
  }
}

interface ApiEvent {
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number;
  readonly eventTime?: string | null;
  readonly firstTimestamp?: string | null;
  readonly lastTimestamp?: string | null;
  readonly involvedObject?: { readonly kind?: string; readonly name?: string; readonly namespace?: string };
}

/** One line per event, oldest first. */
export function eventLines(events: readonly KubernetesObject[]): string {
  const lines = events.map((object) => {
    const event = object as unknown as ApiEvent;
    const at = event.lastTimestamp ?? event.eventTime ?? object.metadata.creationTimestamp ?? '';
    const { kind = '', name = '', namespace } = event.involvedObject ?? {};
    const about = `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
    const times = (event.count ?? 1) > 1 ? ` (${event.count} times)` : '';
    return `${at} ${event.type ?? ''} ${event.reason ?? ''} ${about}: ${event.message?.trim() ?? ''}${times}`;
  });
  return `${lines.toSorted().join('\n')}\n`;
}
