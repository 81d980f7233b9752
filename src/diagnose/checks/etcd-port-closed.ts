// A member of etcd cannot be reached from another control-plane machine, although it runs. Members talk to each other
// by the one port; whoever adds, promotes and removes them uses the other.
import { etcdPorts } from '../../contract/ports.ts';
import type { DiagnosisCheck, DiagnosisFinding } from '../check.ts';
import type { DiagnosedMachine, DiagnosisFacts } from '../facts.ts';

const what: Readonly<Record<number, string>> = {
  [etcdPorts.client]: 'etcd, for its clients',
  [etcdPorts.peer]: 'etcd, between its members',
};

export const etcdPortClosed: DiagnosisCheck = {
  name: 'etcd-port-closed',
  why: 'Members that cannot reach each other do not agree: writes get slow or stop, and no member joins or leaves.',
  looksAt: 'connections from inside each control-plane machine to both ports of etcd on the others',
  certainty: 'measured',
  find: (facts) => facts.machines.flatMap((machine) => findFrom(facts, machine)),
};

function findFrom({ machines }: DiagnosisFacts, { name, inside }: DiagnosedMachine): readonly DiagnosisFinding[] {
  return (inside?.etcd?.peers ?? []).flatMap(({ address, port, failure, reason = '' }) => {
    const target = machines.find((one) => one.address === address);
    // Nobody listens before the member of that machine runs: that is no closed port.
    if (failure === undefined || target?.inside?.etcd?.isListening !== true) return [];
    const others = machines.filter(({ inside: other }) =>
      other?.etcd?.peers.some((one) => one.address === address && one.port === port && one.failure === undefined),
    );
    const who = others.length === 0 ? 'no other machine can either' : `${others.map((one) => one.name).join(', ')} can`;
    return [
      {
        machine: name,
        sentence: `port ${port} (${what[port]}) is closed between ${name} and ${target.name}`,
        seen: `connecting from ${name} to ${address}:${port}: ${reason}; ${who}`,
        next: { verb: 'machine exec', rest: `${target.name} -- nft list ruleset` },
      },
    ];
  });
}
