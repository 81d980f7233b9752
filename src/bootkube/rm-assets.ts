// rm-assets.service, the last unit of a bootstrap machine: it stops the config server and the approver, deletes every
// unused token and every secret of this machine, and only then reports that the bootstrap is complete. It removes
// nothing before tectonic.service has succeeded. It writes the removal mark before it deletes the first file: after a
// crash it starts again and deletes the remaining files.
import { join } from 'node:path';
import { deleteBootstrapToken } from '../admission/bootstrap-token-secret.ts';
import { bootkubeJournal, removalMark } from '../contract/bootstrap-paths.ts';
import {
  bootstrapFinished,
  bootstrapFolder,
  configServerPaths,
  etcdDataFolder,
  programs,
} from '../contract/machine-paths.ts';
import { readTokenLedger } from '../contract/served-tokens.ts';
import { openTimeline } from '../contract/timeline.ts';
import { controlPlaneComponents } from '../control-plane/component-holdings.ts';
import { componentFolder, pkiFolder } from '../control-plane/control-plane-paths.ts';
import type { Host } from '../host/host.ts';
import {
  approveCsrUnit,
  machineConfigServerUnit,
  progressUnit,
  rmAssetsUnit,
  tectonicUnit,
} from '../machine-software/bootstrap-units.ts';
import { lastRecords } from '../workflow/engine.ts';
import type { Emit } from '../workflow/events.ts';
import { readJournal } from '../workflow/journal.ts';
import { addonService } from './add-ons.ts';
import { clientFor } from './api-clients.ts';
import { loadContext } from './context.ts';
import { bootkubeErrors } from './errors.ts';
import { claimWriter } from './one-writer.ts';
import { openProgress } from './progress.ts';

const minuteMs = 60_000;

export interface RemoveAssetsOptions {
  readonly host: Host;
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

export async function removeAssets({ host, emit, signal }: RemoveAssetsOptions): Promise<void> {
  const { files, clock } = host;
  const timeline = openTimeline(host, 'rm-assets');
  timeline.mark('rm-assets', 'began');
  if ((await files.facts(removalMark)) === undefined) {
    // Whoever renders now ends first, and nobody renders later: what is written then would stay.
    await using _ = await claimWriter({
      host,
      signal,
      purpose: rmAssetsUnit.name,
      patienceMs: minuteMs,
      onWaiting: (text) => emit({ kind: 'notice', level: 'info', text }),
    });
    await refuseWhileNeeded(host);
    // These units stop first, so that no token is served after the unused tokens were deleted.
    await stop(host, [machineConfigServerUnit.name, approveCsrUnit.name]);
    await takeBackTokens(host, emit, signal);
    await files.write(removalMark, `${clock.now().toISOString()}\n`);
  }
  await removeSecrets(host);
  timeline.mark('rm-assets', 'done');
  await timeline.idle();
  await openProgress(host).complete();
  await letProgressEnd(host, signal);
  await files.write(bootstrapFinished, `${clock.now().toISOString()}\n`);
  emit({ kind: 'notice', level: 'info', text: 'It is now safe to remove the bootstrap resources' });
}

/** tectonic.service records its last stage when it has succeeded; until then a retry needs what lies here. */
async function refuseWhileNeeded({ files }: Host): Promise<void> {
  const records = lastRecords(await readJournal(files, bootkubeJournal));
  if (addonService.stages.some(({ name }) => !records.has(name)))
    throw bootkubeErrors.STILL_NEEDED({ unit: tectonicUnit.name });
}

/** Deletes the tokens that this machine has served and no machine has used. Tokens that masters served stay. */
async function takeBackTokens(host: Host, emit: Emit, signal: AbortSignal): Promise<void> {
  const context = await loadContext(host, emit);
  await using client = await clientFor(context, context.names.apiInternalUrl);
  for (const { record } of await readTokenLedger(host.files, configServerPaths.tokenLedger)) {
    const wasThere = await deleteBootstrapToken(client, record.id, { signal });
    if (wasThere)
      emit({ kind: 'notice', level: 'info', text: `an unused token of the pool ${record.pool} is deleted` });
  }
}

async function removeSecrets({ files }: Host): Promise<void> {
  for (const component of controlPlaneComponents) await files.remove(componentFolder(component));
  await files.remove(pkiFolder);
  // Delete only the content: the folder itself may be a mount point.
  for (const name of (await files.list(etcdDataFolder)) ?? []) await files.remove(join(etcdDataFolder, name));
  await files.remove(bootstrapFolder);
}

const patienceMs = 10_000;

/** progress.service copies the last state into the API and ends. If it does not end, stop it: it holds a credential. */
async function letProgressEnd(host: Host, signal: AbortSignal): Promise<void> {
  const endMs = host.clock.monotonicMs() + patienceMs;
  while (host.clock.monotonicMs() < endMs) {
    const { code } = await host.processes.run(programs.systemctl, ['is-active', '--quiet', progressUnit.name], {
      signal,
    });
    if (code !== 0) return;
    await host.clock.sleep(200, signal);
  }
  await stop(host, [progressUnit.name]);
}

async function stop(host: Host, units: readonly string[]): Promise<void> {
  await host.processes.run(programs.systemctl, ['stop', ...units], { timeoutMs: 60_000 });
}
