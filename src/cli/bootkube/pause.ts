// `firstlight bootkube pause`
import { goingOnText, pausePointNamed, pausePointTitle } from '../../contract/bootstrap-pause.ts';
import { optionalArgument } from '../frame/option.ts';
import { defineVerb } from '../frame/verb.ts';
import { onBootstrap, typedDirOption } from './on-bootstrap.ts';

export const bootkubePauseVerb = defineVerb({
  description:
    'Holds a bootstrap that runs before a stage that it has not come to, as create cluster --pause-before does from the beginning.',
  args: {
    stage: optionalArgument('number or name of a stage, masters, control-planes or handoff (default: the next one)'),
  },
  examples: ['firstlight bootkube pause', 'firstlight bootkube pause handoff'],
  run: async (invocation) => {
    const { stage } = invocation.args;
    const point = stage === undefined ? undefined : await readPoint(stage);
    const words = ['bootkube', 'pause', ...(point === undefined ? [] : [point])];
    return onBootstrap(invocation, words, async () => {
      const { pauseBootstrap } = await import('../../bootkube/go-on.ts');
      const before = await pauseBootstrap(invocation.host, point);
      const how = goingOnText(typedDirOption(invocation));
      return { data: { before }, text: `the bootstrap is held before ${pausePointTitle(before)}: ${how}\n` };
    });
  },
});

async function readPoint(typed: string): Promise<string> {
  const point = pausePointNamed(typed);
  if (point !== undefined) return point;
  const { bootkubeErrors } = await import('../../bootkube/errors.ts');
  throw bootkubeErrors.UNKNOWN_STAGE({ number: typed });
}
