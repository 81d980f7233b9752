// A node cannot take its configuration, or somebody changed a file of it: its pool stops there.
import type { DiagnosisCheck, NextCommand } from '../check.ts';

export const configDegraded: DiagnosisCheck = {
  name: 'config-degraded',
  why: 'The roll-out of a pool stops at the first node that fails, so that no second one fails in the same way.',
  looksAt: 'what each node says about its configuration, from the API',
  certainty: 'reported',
  find: ({ api }) =>
    (api?.pools ?? []).flatMap((pool) =>
      pool.nodes.flatMap(({ name, phase, reason }) =>
        reason === null
          ? []
          : [
              {
                machine: name,
                sentence: `${name} is ${phase}: ${reason}`,
                seen: `annotations of node ${name}; pool ${pool.name} stops there`,
                next: nextLook(name, reason),
              },
            ],
      ),
    ),
};

/** Where the reason names a file or a unit, that is what to look at. */
function nextLook(node: string, reason: string): NextCommand {
  const unit = /\b([A-Za-z0-9:_@-]+\.(?:service|socket|timer|path|mount))\b/.exec(reason)?.[1];
  if (unit !== undefined) return { verb: 'machine logs', rest: `${node} --unit ${unit}` };
  const file = /(?:^|\s)(\/[^\s:;,"'()]+)/.exec(reason)?.[1];
  if (file !== undefined) return { verb: 'machine exec', rest: `${node} -- ls -l ${file}` };
  return { verb: 'machine logs', rest: `${node} --unit firstlight-agent` };
}
