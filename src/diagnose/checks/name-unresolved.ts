// A machine cannot resolve the name of the API, or resolves it to a wrong address.
import type { DiagnosisCheck, DiagnosisFinding } from '../check.ts';
import type { DiagnosedMachine, DiagnosisFacts } from '../facts.ts';

export const nameUnresolved: DiagnosisCheck = {
  name: 'name-unresolved',
  why: 'A machine knows its cluster by this one name: without it, it gets neither its configuration nor the API.',
  looksAt: 'the address of api-int, looked up inside the machine',
  certainty: 'measured',
  find: ({ machines, apiInternal }) => machines.flatMap((machine) => findOn(machine, apiInternal)),
};

function findOn(
  { name, inside }: DiagnosedMachine,
  { name: wanted, address }: DiagnosisFacts['apiInternal'],
): readonly DiagnosisFinding[] {
  const looked = inside?.names.find((one) => one.name === wanted);
  if (inside === undefined || looked === undefined || looked.addresses.includes(address)) return [];
  const next = { verb: 'machine exec', rest: `${name} -- getent hosts ${wanted}` };
  const asked = `its name servers are ${inside.nameServers.join(', ') || 'none at all'}`;
  if (looked.addresses.length > 0) {
    const sentence = `${wanted} resolves to ${looked.addresses.join(', ')} on ${name}, and the load balancer is ${address}`;
    return [{ machine: name, sentence, seen: asked, next }];
  }
  return [
    {
      machine: name,
      sentence: `${wanted} does not resolve on ${name}`,
      seen: `looked up there: ${looked.reason ?? 'no address'}; ${asked}`,
      next,
    },
  ];
}
