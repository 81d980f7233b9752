// `firstlight ipb pod`: what the pods of the DaemonSet ipb-system/ipb run. Runs until it is stopped.
import { firstlightVersion } from '../frame/program.ts';
import { defineVerb } from '../frame/verb.ts';

export const ipbPodVerb = defineVerb({
  examples: ['firstlight ipb pod'],
  run: async ({ host, terminal, signal }) => {
    const { runPod } = await import('../../in-place/pod/run-pod.ts');
    const { NODE_NAME: node = '', IPB_IMAGE: image } = host.environment.variables;
    try {
      const log = (line: string): void => terminal.err(`${line}\n`);
      await runPod(host, { node, image, version: `firstlight ${firstlightVersion}`, signal, log });
    } catch (error) {
      // A signal is the normal end of a pod, not a failure.
      if (!signal.aborted) throw error;
    }
    return { data: {}, text: '' };
  },
});
