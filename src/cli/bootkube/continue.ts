// `firstlight bootkube continue`
import { pausePointTitle } from '../../contract/bootstrap-pause.ts';
import { defineVerb } from '../frame/verb.ts';
import { onBootstrap, typedDirOption } from './on-bootstrap.ts';

export const bootkubeContinueVerb = defineVerb({
  description: 'Lets bootkube.service run all that follows, without another pause. It does not wait for the end.',
  examples: ['firstlight bootkube continue', 'firstlight bootkube continue --dir lab'],
  run: async (invocation) =>
    onBootstrap(invocation, ['bootkube', 'continue'], async () => {
      const { continueBootstrap } = await import('../../bootkube/go-on.ts');
      const from = await continueBootstrap(invocation);
      if (from === undefined) return { data: { from: null }, text: 'the bootstrap was not paused\n' };
      const follow = `firstlight create cluster${typedDirOption(invocation)} follows it`;
      return { data: { from }, text: `bootkube.service goes on with ${pausePointTitle(from)}; ${follow}\n` };
    }),
});
