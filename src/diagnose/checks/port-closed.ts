// A machine cannot connect to a port of the load balancer. The load balancer accepts connections even when no machine
// serves, so a connection that fails is blocked between the two.
import { apiPort, configServerPort } from '../../contract/ports.ts';
import type { DiagnosisCheck, DiagnosisFinding } from '../check.ts';
import { type DiagnosisFacts } from '../facts.ts';

const what: Readonly<Record<number, string>> = { [configServerPort]: 'the config server', [apiPort]: 'the API' };

export const portClosed: DiagnosisCheck = {
  name: 'port-closed',
  why: 'A packet filter between machine and load balancer keeps the machine from its configuration or from the API.',
  looksAt: 'connections from inside each machine to both ports of the load balancer, by its address',
  certainty: 'measured',
  find: (facts) => (facts.isBalancerRunning ? [configServerPort, apiPort].flatMap((port) => findFor(facts, port)) : []),
};

function findFor({ machines, apiInternal }: DiagnosisFacts, port: number): readonly DiagnosisFinding[] {
  const tried = machines.flatMap(({ name, inside }) => {
    const outcome = inside?.ports.find((one) => one.port === port);
    return outcome === undefined ? [] : [{ name, ...outcome }];
  });
  const closed = tried.filter(({ failure }) => failure !== undefined);
  const others = tried.length === closed.length ? 'from no other machine either' : 'other machines can connect';
  return closed.map(({ name, reason = '' }) => ({
    machine: name,
    sentence: `port ${port} (${what[port]}) is closed between ${name} and the load balancer ${apiInternal.address}`,
    seen: `connecting from ${name}: ${reason}; ${others}`,
    next: { verb: 'machine exec', rest: `${name} -- nft list ruleset` },
  }));
}
