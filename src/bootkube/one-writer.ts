// One writer at a time: whoever runs a stage, bootkube.service or a person, first claims the folder of the journal. The
// kernel frees the claim when its process ends, whatever ended it. Readers need no claim.
import { bootkubeState, removalMark } from '../contract/bootstrap-paths.ts';
import { waitingFor } from '../contract/missing.ts';
import { isError } from '../errors/firstlight-error.ts';
import type { FolderLock, LockHolder } from '../host/files.ts';
import type { Host } from '../host/host.ts';
import { workflowErrors } from '../workflow/errors.ts';
import { type Observation, waitUntil } from '../workflow/wait.ts';
import { bootkubeErrors } from './errors.ts';

export interface WriterClaim {
  readonly host: Host;
  /** The command and its stage; what others are told while they wait. */
  readonly purpose: string;
  /** How long to wait for another writer. */
  readonly patienceMs: number;
  readonly signal: AbortSignal;
  /** Called with the sentence that says who writes. */
  readonly onWaiting: (text: string) => void;
}

export async function claimWriter(claim: WriterClaim): Promise<FolderLock> {
  const { host, patienceMs, signal, onWaiting } = claim;
  await host.files.makeFolder(bootkubeState, { mode: 0o700 });
  const last: { holder: LockHolder } = { holder: {} };
  try {
    return await waitUntil({
      clock: host.clock,
      what: 'the end of another writer',
      deadlineMs: patienceMs,
      everyMs: 100,
      signal,
      probe: () => attempt(claim, last),
      onMissing: () => onWaiting(`waits for ${holderText(last.holder)}`),
    });
  } catch (error) {
    if (!isError(error, workflowErrors.DEADLINE)) throw error;
    throw bootkubeErrors.BUSY({ holder: holderText(last.holder), seconds: Math.round(patienceMs / 1000) });
  }
}

async function attempt({ host, purpose }: WriterClaim, last: { holder: LockHolder }): Promise<Observation<FolderLock>> {
  const lock = await host.files.lock(bootkubeState, purpose);
  if ('heldBy' in lock) {
    last.holder = lock.heldBy;
    return { status: 'waiting', missing: [waitingFor(holderText(lock.heldBy))] };
  }
  // rm-assets claims the folder, too: from then on nothing may be rendered, because nobody would remove it.
  if ((await host.files.facts(removalMark)) === undefined) return { status: 'ready', value: lock };
  await lock[Symbol.asyncDispose]();
  throw bootkubeErrors.OVER({});
}

/** `process 812 (bootkube.service, stage 7 etcd)`. */
function holderText({ pid, purpose }: LockHolder): string {
  const who = pid === undefined ? 'another process' : `process ${pid}`;
  return purpose === undefined ? who : `${who} (${purpose})`;
}
