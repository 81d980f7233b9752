// `firstlight explain torcx`: what the bootstrapper would do on this node with its default flags, and why. For other
// flags: `firstlight torcx bootstrap --dry-run …`, which is the same.
import type { CommandBody } from '../frame/verb.ts';
import { torcxBootstrap } from '../torcx/bootstrap.ts';

export const explainTorcx: CommandBody = (invocation) =>
  torcxBootstrap({ ...invocation, options: { ...invocation.options, dryRun: true } });
