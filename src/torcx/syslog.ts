// The hook's log, a second time, to the node's syslog: a container's log does not survive the reboot it prepares.
// Best effort by `logger`; a node without it loses nothing but the copy.
import type { Host } from '../host/host.ts';
import type { Emit } from '../workflow/events.ts';

const tag = 'tectonic-torcx-hook-pre';
const limitMs = 2_000;

export interface SyslogTee extends AsyncDisposable {
  readonly emit: Emit;
}

export function teeToSyslog(host: Host, emit: Emit): SyslogTee {
  const lines: string[] = [];
  return {
    emit: (event) => {
      emit(event);
      if (event.kind === 'notice') lines.push(event.text);
    },
    [Symbol.asyncDispose]: async () => {
      const logger = lines.length === 0 ? undefined : await host.processes.find('logger');
      if (logger === undefined) return;
      const input = `${lines.join('\n')}\n`;
      // A failed copy must not turn a prepared node into a failure.
      await host.processes
        .run(logger, ['--priority', 'user.info', '--tag', tag], { input, timeoutMs: limitMs })
        .catch(() => {});
    },
  };
}
