// argv → command → exit code. The only file that sets the exit code and listens for signals.
// Everything else is imported after the compile cache is on, so that a second start parses nothing.
import { enableCompileCache } from 'node:module';

enableCompileCache(`${import.meta.dirname}/../.toolchain/compile-cache`);

const { runCli } = await import('./cli/frame/run.ts');
const { realTerminal } = await import('./host/real/terminal.ts');
// Called as tectonic-torcx-bootstrap, tectonic-torcx-hook-pre or machine-config-daemon, it does what those did.
const calledAs = process.env['FIRSTLIGHT_CALLED_AS'] ?? process.argv[1] ?? '';

const interrupt = new AbortController();

process.exitCode = await runCli({
  argv: await ownArguments(calledAs, process.argv.slice(2)),
  loadHost: async () => {
    listenForSignals();
    return (await import('./host/real/real-host.ts')).realHost();
  },
  terminal: realTerminal(),
  interrupt: interrupt.signal,
});
// A connection attempt to a machine that is gone lasts for a minute and more, and would keep the process for as long:
// whoever asked an agent to end, such as a reboot, must not wait for that. Output to a file, pipe or terminal is out.
// oxlint-disable-next-line unicorn/no-process-exit -- the rule is for code that other code calls
if (interrupt.signal.aborted) process.exit();
// The same for a verb that ended by itself, as the one that a machine waits for before it goes down. Its output may
// still be on the way to a slow reader. The timer keeps no process that has nothing else to wait for.
setInterval(() => {
  // oxlint-disable-next-line unicorn/no-process-exit -- as above
  if (process.stdout.writableLength + process.stderr.writableLength === 0) process.exit();
}, 100).unref();

/** Called when a verb is about to run; help has nothing to interrupt. */
function listenForSignals(): void {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    // `once`: a second signal of the same kind ends us at once; every write is atomic, so nothing is lost.
    process.once(name, () => interrupt.abort(name));
  }
}

/** Only calls of torcx, under any of its names, load the table of those names. The daemon's name is its first word. */
async function ownArguments(name: string, args: readonly string[]): Promise<readonly string[]> {
  if (name.endsWith('machine-config-daemon')) return ['machine-config-daemon', ...args];
  if (!/(^|\/)tectonic-/.test(name) && !args.includes('torcx')) return args;
  return (await import('./torcx/program-names.ts')).torcxArguments(name, args);
}
