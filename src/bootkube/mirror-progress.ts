// progress.service: copies the progress file into ConfigMap kube-system/bootstrap-progress at every change, for people
// who can reach the API but not this machine. It uses the API of this machine while that runs, later the masters. It
// ends after it has copied that the bootstrap is complete.

import { dirname } from 'node:path';
import { removalMark } from '../contract/bootstrap-paths.ts';
import { parseBootstrapProgress, progressFile } from '../contract/bootstrap-progress.ts';
import { progressConfigMap, progressKey } from '../contract/cluster-objects.ts';
import { localApiUrl } from '../contract/ports.ts';
import { FirstlightError } from '../errors/firstlight-error.ts';
import type { Host } from '../host/host.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import { Doorbell } from '../workflow/doorbell.ts';
import type { Emit } from '../workflow/events.ts';
import { pause } from '../workflow/pause.ts';
import { clientFor } from './api-clients.ts';
import { loadContext } from './context.ts';

const lookEveryMs = 1_000;

export interface MirrorOptions {
  readonly host: Host;
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

export async function mirrorProgress({ host, emit, signal }: MirrorOptions): Promise<void> {
  // Restarted while rm-assets removes the assets: the credential for the API may be deleted already.
  if ((await host.files.facts(removalMark)) !== undefined) return;
  const context = await loadContext(host, emit);
  await using here = await clientFor(context, localApiUrl);
  await using masters = await clientFor(context, context.names.apiInternalUrl);
  await host.files.makeFolder(dirname(progressFile));
  const progressChanged = new Doorbell();
  using _ = host.files.watch(dirname(progressFile), () => progressChanged.ring());
  let published: string | undefined;
  for (;;) {
    signal.throwIfAborted();
    const { rings } = progressChanged;
    const text = await progressText(host);
    if (text !== undefined && text !== published && (await publish([here, masters], text, signal))) published = text;
    if (published !== undefined && parseBootstrapProgress(published)?.isComplete === true) return;
    await pause(host.clock, { ms: lookEveryMs, signal, wake: (over) => progressChanged.rung(rings, over) });
  }
}

async function progressText(host: Host): Promise<string | undefined> {
  const content = await host.files.readIfPresent(progressFile);
  return content === undefined ? undefined : Buffer.from(content).toString('utf8');
}

/** True if one of the APIs accepted the text. An unreachable API is no error: the caller tries again soon. */
async function publish(clients: readonly KubernetesClient[], text: string, signal: AbortSignal): Promise<boolean> {
  const { apiVersion, kind, namespace, name } = progressConfigMap;
  const object = { apiVersion, kind, metadata: { name, namespace }, data: { [progressKey]: text } };
  for (const client of clients) {
    try {
      await client.apply(object, { signal, force: true, deadlineMs: 3_000 });
      return true;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof FirstlightError)) throw error;
    }
  }
  return false;
}
