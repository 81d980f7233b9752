// update_engine over D-Bus: which OS version boots next, now or after a requested update. Only signals from the owner
// of the bus name count, only valid OS versions are returned, and the wait has a deadline.

import { missingLine, waitingFor } from '../contract/missing.ts';
import { isError } from '../errors/firstlight-error.ts';
import type { BusConnection } from '../host/bus.ts';
import type { Clock } from '../host/clock.ts';
import { hostErrors } from '../host/errors.ts';
import { Doorbell } from '../workflow/doorbell.ts';
import { waitUntil } from '../workflow/wait.ts';
import { reasonOf } from './context.ts';
import { torcxErrors } from './errors.ts';
import { isOsVersion } from './operating-system.ts';

const manager = {
  destination: 'com.coreos.update1',
  path: '/com/coreos/update1',
  interface: 'com.coreos.update1.Manager',
} as const;
const prefix = 'UPDATE_STATUS_';
const pollMs = 30_000;

export type NextOs =
  | { readonly kind: 'none'; readonly because: string; readonly hasFailed?: boolean }
  | { readonly kind: 'version'; readonly version: string }
  /** An update waits for a reboot, but update_engine was restarted and does not know its version any more. */
  | { readonly kind: 'unknown'; readonly reported: string };

interface UpdateStatus {
  /** `IDLE`, `DOWNLOADING` and so on. */
  readonly operation: string;
  readonly progress: number;
  readonly newVersion: string;
}

/** Reads the status once and changes nothing. */
export async function queryNextOs(bus: BusConnection): Promise<NextOs> {
  const status = await getStatus(bus);
  return settled(status) ?? { kind: 'none', because: `update_engine says ${status.operation}` };
}

/** True if no update_engine is on the bus, as in containers and in images without updates. */
export function isAbsent(error: unknown): boolean {
  const names = ['ServiceUnknown', 'NameHasNoOwner'].map((name) => `org.freedesktop.DBus.Error.${name}`);
  return isError(error, hostErrors.BUS) && names.includes(error.details.errorName);
}

export interface AttemptOptions {
  readonly clock: Clock;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
}

/** Asks for an update and waits until there is none, or until one waits for a reboot. */
export async function attemptUpdate(bus: BusConnection, options: AttemptOptions): Promise<NextOs> {
  // This call starts the service if it is started on demand; without an owner of the name no signals come.
  await getStatus(bus);
  let queue: (readonly unknown[])[] = [];
  let lost: string | undefined;
  const statusChanged = new Doorbell();
  let rings = 0;
  using _signals = await bus.listen(
    { sender: manager.destination, path: manager.path, interface: manager.interface, member: 'StatusUpdate' },
    {
      received: (body) => {
        queue.push(body);
        statusChanged.ring();
      },
      lost: (reason) => {
        lost = reason;
        statusChanged.ring();
      },
    },
  );
  await bus.call({ ...manager, member: 'AttemptUpdate', signal: options.signal });
  // Replies and signals arrive in order, so everything queued until here is older than the attempt.
  queue = [];
  let hasFailed = false;
  let isFirst = true;
  // `await` is needed: the subscription ends with this function.
  return await waitUntil<NextOs>({
    clock: options.clock,
    what: 'an answer of update_engine about the next OS version',
    deadlineMs: options.deadlineMs,
    everyMs: pollMs,
    signal: options.signal,
    onMissing: (missing) => options.onProgress(missingLine(missing)),
    wake: (signal) => statusChanged.rung(rings, signal),
    probe: async () => {
      ({ rings } = statusChanged);
      if (lost !== undefined)
        throw torcxErrors.UPDATE_ENGINE({ reason: `${lost} while an update was being waited for` });
      // A signal may be lost, so the status is read if none has come.
      const asked = queue.length === 0 || isFirst ? [await getStatus(bus)] : [];
      const seen = [...queue.map(parseStatus), ...asked];
      queue = [];
      isFirst = false;
      for (const status of seen) {
        hasFailed ||= status.operation === 'REPORTING_ERROR_EVENT';
        const next = settled(status);
        if (next !== undefined) return { status: 'ready', value: next.kind === 'none' ? withFailure(hasFailed) : next };
      }
      return { status: 'waiting', missing: [waitingFor(describe(seen.at(-1)))] };
    },
  });
}

function withFailure(hasFailed: boolean): NextOs {
  return hasFailed
    ? { kind: 'none', because: 'the update failed; update_engine is idle again', hasFailed }
    : { kind: 'none', because: 'update_engine found no update' };
}

/** What a final state means; undefined while an update is under way. */
function settled({ operation, newVersion }: UpdateStatus): NextOs | undefined {
  if (operation === 'IDLE') return { kind: 'none', because: 'update_engine says IDLE' };
  if (operation !== 'UPDATED_NEED_REBOOT') return undefined;
  const isKnown = isOsVersion(newVersion) && newVersion !== '0.0.0';
  return isKnown ? { kind: 'version', version: newVersion } : { kind: 'unknown', reported: newVersion };
}

function describe(status: UpdateStatus | undefined): string {
  if (status === undefined) return 'no status yet';
  const tenth = Math.floor(status.progress * 10) * 10;
  return status.operation === 'DOWNLOADING'
    ? `update_engine is downloading ${status.newVersion}, ${tenth} %`
    : `update_engine says ${status.operation}`;
}

async function getStatus(bus: BusConnection): Promise<UpdateStatus> {
  return parseStatus(await bus.call({ ...manager, member: 'GetStatus' }));
}

function parseStatus(body: readonly unknown[]): UpdateStatus {
  const [, progress, operation, newVersion] = body;
  if (typeof operation !== 'string' || typeof newVersion !== 'string') {
    throw torcxErrors.UPDATE_ENGINE({ reason: 'its status is not of the known form (xdssx)' });
  }
  return {
    operation: operation.startsWith(prefix) ? operation.slice(prefix.length) : operation,
    progress: typeof progress === 'number' ? progress : 0,
    newVersion,
  };
}

export function updateEngineError(error: unknown): Error {
  if (!isError(error, hostErrors.BUS)) return error as Error;
  return torcxErrors.UPDATE_ENGINE({ reason: reasonOf(error) }, { cause: error });
}
