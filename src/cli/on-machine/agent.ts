// `firstlight agent`: what firstlight-agent.service runs on masters and workers. Runs until it is asked to stop.
import { runAgent } from '../../node/agent.ts';
import type { CommandBody } from '../frame/verb.ts';

export const agent: CommandBody = async ({ host, terminal, signal }) => {
  try {
    return await runAgent(host, { signal, log: (line) => terminal.err(`${line}\n`) });
  } catch (error) {
    if (!signal.aborted) throw error;
    // To be asked to stop is how an agent ends, not a failure.
    return { data: {}, text: '' };
  }
};
