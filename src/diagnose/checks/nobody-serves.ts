// No machine serves behind the load balancer. The checks before this one look for the cause; this one names what is
// missing.
import { apiPort, configServerPort } from '../../contract/ports.ts';
import type { DiagnosisCheck, DiagnosisFinding } from '../check.ts';
import { type DiagnosisFacts } from '../facts.ts';

export const nobodyServes: DiagnosisCheck = {
  name: 'nobody-serves',
  why: 'Machines that reach the load balancer get no answer while no machine serves.',
  looksAt: 'the ports of the API and of the config server, inside every machine that could serve',
  certainty: 'reported',
  find: (facts) => [...findFor(facts, apiPort, 'API server'), ...findFor(facts, configServerPort, 'config server')],
};

/** Finds nothing while facts from inside a machine that could serve are missing. */
function findFor({ machines }: DiagnosisFacts, port: number, what: string): readonly DiagnosisFinding[] {
  const servers = machines.filter(({ role, firstBoot }) => role !== 'worker' && firstBoot?.phase === 'done');
  const [first] = servers;
  if (first === undefined || servers.some(({ inside }) => inside === undefined || inside.serves.includes(port))) {
    return [];
  }
  const names = servers.map(({ name }) => name).join(', ');
  return [
    {
      machine: first.name,
      sentence: `no ${what} runs: nobody answers on port ${port} of ${names}`,
      seen: `connections to port ${port} from inside ${names} are not accepted`,
      next: {
        verb: 'machine logs',
        rest: `${first.name} --unit ${first.role === 'bootstrap' ? 'bootkube' : 'kubelet'}`,
      },
    },
  ];
}
