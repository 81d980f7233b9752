// `firstlight agent`: what firstlight-agent.service runs on masters and workers. Runs until it is stopped.
import { defineVerb } from '../frame/verb.ts';

export const agentVerb = defineVerb({
  examples: ['firstlight agent'],
  run: async ({ host, terminal, signal }) => {
    const { runAgent } = await import('../../node/agent.ts');
    try {
      return await runAgent(host, { signal, log: (line) => terminal.err(`${line}\n`) });
    } catch (error) {
      if (!signal.aborted) throw error;
      // A signal is the normal end of an agent, not a failure.
      return { data: {}, text: '' };
    }
  },
});
