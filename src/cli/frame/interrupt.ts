// Turns the operating system's wish to stop into the coded error that bodies are aborted with.
import { workflowErrors } from '../../workflow/errors.ts';

const names: Readonly<Record<string, string>> = { SIGINT: 'Ctrl-C', SIGTERM: 'SIGTERM', SIGHUP: 'a closed terminal' };

export function interruptible(raw: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const abort = (): void => {
    const by = names[String(raw.reason)] ?? String(raw.reason);
    controller.abort(workflowErrors.INTERRUPTED({ by }));
  };
  if (raw.aborted) abort();
  else raw.addEventListener('abort', abort, { once: true });
  return controller.signal;
}
