// A machine reaches the config server and does not get its configuration. The request was made with the machine's own
// pointer config, so what is refused here is refused to Ignition too.
import type { DiagnosisCheck, DiagnosisFinding } from '../check.ts';
import type { DiagnosedMachine } from '../facts.ts';

export const configRefused: DiagnosisCheck = {
  name: 'config-refused',
  why: 'A pointer config with the token or the authority of another cluster is never answered, and Ignition asks for ever.',
  looksAt: 'the answer to the question in the pointer config of the machine, asked from inside it',
  certainty: 'measured',
  find: ({ machines }) => machines.flatMap(findOn),
};

const tokenRefused = 511;

function findOn({ name, role, inside }: DiagnosedMachine): readonly DiagnosisFinding[] {
  const pointer = inside?.pointer;
  if (pointer === undefined) return [];
  const file = `${role}.ign`;
  const again = { verb: 'machine destroy', rest: name };
  if (pointer.status === tokenRefused) {
    return [
      {
        machine: name,
        sentence: `the config server does not accept the pool token of ${name}: it was made with another ${file}, or its token has expired`,
        seen: `${pointer.url} answers ${tokenRefused} to the token in its pointer config`,
        next: again,
      },
    ];
  }
  if (pointer.failure === 'tls') {
    return [
      {
        machine: name,
        sentence: `${name} does not trust the config server: its ${file} carries the authority of another cluster`,
        seen: `${pointer.url}: ${pointer.reason ?? ''}`,
        next: again,
      },
    ];
  }
  if (pointer.status === undefined || pointer.status < 300) return [];
  return [
    {
      machine: name,
      sentence: `the config server has no configuration for ${name}: it answers ${pointer.status}`,
      seen: `${pointer.url} answers ${pointer.status}`,
      next: { verb: 'machine logs', rest: 'bootstrap --unit machine-config-server' },
    },
  ];
}
