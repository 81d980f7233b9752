// argv → command → exit code. The only file that sets the exit code and listens for signals.
// Everything else is imported after the compile cache is on, so that a second start parses nothing.
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

enableCompileCache(fileURLToPath(new URL('../.toolchain/compile-cache', import.meta.url)));

const { runCli } = await import('./cli/run.ts');
const { realTerminal } = await import('./host/real/terminal.ts');
const { torcxArguments } = await import('./torcx/program-names.ts');

// Under the names tectonic-torcx-bootstrap and tectonic-torcx-hook-pre we are those programs.
const calledAs = process.env['FIRSTLIGHT_CALLED_AS'] ?? process.argv[1] ?? '';

const interrupt = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  // `once`: a second signal of the same kind ends us at once; every write is atomic, so nothing is lost.
  process.once(name, () => interrupt.abort(name));
}

process.exitCode = await runCli({
  argv: torcxArguments(calledAs, process.argv.slice(2)),
  loadHost: async () => (await import('./host/real/real-host.ts')).realHost(),
  terminal: realTerminal(),
  interrupt: interrupt.signal,
});
