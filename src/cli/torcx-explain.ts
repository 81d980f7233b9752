// `firstlight explain torcx`: what the bootstrapper would do on this node, and why. The same as its --dry-run.
import type { CommandBody } from './command.ts';
import { torcxBootstrap } from './torcx-bootstrap.ts';

export const explainTorcx: CommandBody = (invocation) =>
  torcxBootstrap({ ...invocation, options: { ...invocation.options, dryRun: true } });
