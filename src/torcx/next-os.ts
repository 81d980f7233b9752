// Which OS boots next, according to update_engine. A request for an update changes the node, so a dry run only reads
// the status.
import type { TorcxContext } from './context.ts';
import { type DecisionLog, recordFact } from './decision-log.ts';
import { torcxErrors } from './errors.ts';
import { systemBusAddress } from './systemd.ts';
import { attemptUpdate, isAbsent, type NextOs, queryNextOs, updateEngineError } from './update-engine.ts';

const source = 'update_engine';

/** Returns `unknown` only to a bootstrap that may reboot first; in all other cases it throws. */
export async function learnNextOs(context: TorcxContext, log: DecisionLog): Promise<NextOs> {
  const { settings } = context;
  // The next OS matters only to an update or to an add-on.
  if (settings.skipsSetup && !settings.upgradesOs) return { kind: 'none', because: 'not asked' };
  const next = await ask(context).catch((error: unknown) => {
    throw updateEngineError(error);
  });
  const value = next.kind === 'version' ? next.version : next.kind === 'none' ? 'none' : 'unknown version';
  const notes = next.kind === 'none' ? [next.because] : next.kind === 'unknown' ? [`it reports ${next.reported}`] : [];
  recordFact(log, 'next OS', { value, from: source, notes });
  context.say(
    next.kind === 'none' && next.hasFailed === true ? 'warn' : 'info',
    `next OS: ${[value, ...notes].join(', ')}`,
  );
  if (next.kind === 'unknown' && !settings.upgradesOs) {
    throw torcxErrors.NEXT_VERSION_UNKNOWN({ reported: next.reported });
  }
  if (next.kind === 'none' && settings.role === 'hook') noNextVersion(context, next.because);
  return next;
}

function noNextVersion({ settings, say }: TorcxContext, status: string): void {
  if (settings.requiresNextVersion) throw torcxErrors.NO_NEXT_VERSION({ status });
  say('warn', 'no OS update is waiting; only the running OS is prepared');
}

async function ask(context: TorcxContext): Promise<NextOs> {
  const { host, settings, signal } = context;
  await using bus = await host.bus.connect({ address: systemBusAddress(context) });
  if (settings.upgradesOs && !settings.isDryRun) {
    const onProgress = (text: string): void => context.say('info', text);
    return await attemptUpdate(bus, { clock: host.clock, deadlineMs: settings.updateDeadlineMs, signal, onProgress });
  }
  try {
    const next = await queryNextOs(bus);
    const isAsked = settings.upgradesOs && next.kind === 'none';
    return isAsked ? { ...next, because: `${next.because}; a real run asks it for an update first` } : next;
  } catch (error) {
    if (settings.upgradesOs || settings.role === 'hook' || !isAbsent(error)) throw error;
    context.say('warn', 'nobody on the bus is update_engine; the running OS is taken to be the next one');
    return { kind: 'none', because: 'there is no update_engine' };
  }
}
