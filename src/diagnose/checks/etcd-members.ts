// etcd without a leader, without one of its voters, or with an alarm, as its own members report it.
import { quorumOf } from '../../etcd/member.ts';
import type { DiagnosisCheck, DiagnosisFinding } from '../check.ts';
import type { DiagnosedMachine, DiagnosisFacts } from '../facts.ts';
import type { InsideFacts } from '../inside/inside-facts.ts';

type Member = NonNullable<NonNullable<InsideFacts['etcd']>['member']>;

interface Answering {
  readonly machine: DiagnosedMachine;
  readonly member: Member;
}

function answering({ machines }: DiagnosisFacts): readonly Answering[] {
  return machines.flatMap((machine) => {
    const member = machine.inside?.etcd?.member;
    return member === undefined ? [] : [{ machine, member }];
  });
}

/** The bootstrap machine's containers have names of their own. */
function logsOf({ name, role }: DiagnosedMachine): DiagnosisFinding['next'] {
  return { verb: 'machine logs', rest: `${name} --container ${role === 'bootstrap' ? 'etcd-bootstrap' : 'etcd'}` };
}

export const etcdNoLeader: DiagnosisCheck = {
  name: 'etcd-no-leader',
  why: 'Without a leader etcd accepts no write, and the API answers none.',
  looksAt: 'what the members of etcd say about their leader',
  certainty: 'measured',
  find: (facts) => {
    const asked = answering(facts);
    const [first] = asked;
    if (first === undefined || asked.some(({ member }) => member.leader !== undefined)) return [];
    const voters = first.member.members.filter(({ isLearner }) => !isLearner);
    const there = asked.filter(({ member }) => !member.isLearner);
    const names = there.map(({ machine }) => machine.name).join(', ') || 'none';
    return [
      {
        machine: first.machine.name,
        sentence: `etcd has no leader: ${there.length} of ${voters.length} voters answer, ${quorumOf(voters.length)} must agree`,
        seen: `asked inside each control-plane machine; those that answer: ${names}`,
        next: logsOf(first.machine),
      },
    ];
  },
};

export const etcdMemberAway: DiagnosisCheck = {
  name: 'etcd-member-away',
  why: 'A voter that does not run counts for the majority and does not vote: one more, and nothing can be written.',
  looksAt: 'the members that etcd lists, and the machine of each',
  certainty: 'reported',
  find: (facts) => {
    const listed = answering(facts)[0]?.member.members ?? [];
    return listed.flatMap(({ name, isLearner, peerUrls }) => {
      const machine = facts.machines.find(({ address }) => peerUrls.some((url) => new URL(url).hostname === address));
      // A learner that has not started is waited for; a machine that nobody could look into may well run its member.
      if (isLearner || machine?.inside?.etcd === undefined || machine.inside.etcd.isListening) return [];
      return [
        {
          machine: machine.name,
          sentence: `the member of etcd on ${machine.name} does not run`,
          seen: `etcd counts ${name === '' ? 'it' : name} as a voter; it accepts no clients`,
          next: logsOf(machine),
        },
      ];
    });
  },
};

export const etcdAlarm: DiagnosisCheck = {
  name: 'etcd-alarm',
  why: 'etcd that raised an alarm refuses to write: its database is full (NOSPACE) or damaged (CORRUPT).',
  looksAt: 'the alarms that the members of etcd report',
  certainty: 'measured',
  find: (facts) => {
    const [first] = answering(facts).filter(({ member }) => member.alarms.length > 0);
    if (first === undefined) return [];
    return [
      {
        machine: first.machine.name,
        sentence: `etcd has raised the alarm ${first.member.alarms.join(', ')}`,
        seen: `the member on ${first.machine.name} says so`,
        next: { verb: 'machine exec', rest: `${first.machine.name} -- etcdctl alarm list` },
      },
    ];
  },
};
