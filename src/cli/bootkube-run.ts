// `firstlight bootkube run`, what bootkube.service executes.
import type { CommandBody } from './command.ts';

export const bootkubeRun: CommandBody = async (invocation) => {
  const { runBootstrap } = await import('../bootkube/run-bootstrap.ts');
  await runBootstrap(invocation);
  return { data: { status: 'complete' }, text: 'bootkube.service complete\n' };
};
