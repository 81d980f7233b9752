// Every way in which a call to etcd can fail, as a table. etcd's text decides: the status code of the same refusal
// differs between versions (a learner refuses with 14 or 9), and some arrive as Unknown.
// Rule: a call that may have taken effect is never repeated before the member list is read.
export interface OutcomeRow {
  /** The text of etcd without its "etcdserver: " prefix. Undefined for failures that the client side reports. */
  readonly text?: RegExp;
  /** Whether the requested change may have taken effect although the call failed. */
  readonly mayHaveHappened: boolean;
  readonly means: string;
}

export const outcomes = {
  'unhealthy-cluster': {
    text: /^unhealthy cluster/,
    mayHaveHappened: false,
    means: 'the asked member has not been connected to enough others for five seconds',
  },
  'not-in-sync': {
    text: /^can only promote a learner member which is in sync/,
    mayHaveHappened: false,
    means: 'the learner has not caught up with the leader',
  },
  'not-a-learner': {
    text: /^can only promote a learner member$/,
    mayHaveHappened: true,
    means: 'the member votes already',
  },
  'too-many-learners': {
    text: /^too many learner members/,
    mayHaveHappened: false,
    means: 'an earlier learner must be promoted or removed first',
  },
  'member-exists': {
    text: /^member ID already exist/,
    mayHaveHappened: true,
    means: 'the same member was added within the same second',
  },
  'peer-url-exists': {
    text: /^Peer URLs already exists/,
    mayHaveHappened: true,
    means: 'a member with this address is in the list',
  },
  'member-not-found': {
    text: /^member not found/,
    mayHaveHappened: true,
    means: 'the member is gone; for an add, its address was removed within the same second',
  },
  'not-enough-started': {
    text: /^re-configuration failed due to not enough started members/,
    mayHaveHappened: false,
    means: 'a voter has never started',
  },
  'no-leader': { text: /^no leader/, mayHaveHappened: true, means: 'the members have no leader at the moment' },
  'leader-changed': { text: /^leader changed/, mayHaveHappened: true, means: 'the leader changed during the call' },
  'timed-out-inside': { text: /^request timed out/, mayHaveHappened: true, means: 'the members did not agree in time' },
  'learner-cannot-serve': {
    text: /^rpc not supported for learner/,
    mayHaveHappened: false,
    means: 'a learner was asked what only a voter answers',
  },
  'not-leader': { text: /^not leader/, mayHaveHappened: false, means: 'only the leader can hand over the leadership' },
  'bad-transferee': {
    text: /^bad leader transferee/,
    mayHaveHappened: false,
    means: 'a learner or a stranger cannot lead',
  },
  'no-space': {
    text: /^mvcc: database space exceeded/,
    mayHaveHappened: false,
    means: 'the database reached its quota and takes no writes',
  },
  corrupt: { text: /^corrupt cluster/, mayHaveHappened: false, means: 'the members disagree about their data' },
  stopped: { text: /^server stopped/, mayHaveHappened: true, means: 'the member is shutting down' },
  'too-many-requests': { text: /^too many requests/, mayHaveHappened: false, means: 'the member is overloaded' },
  'not-allowed': { mayHaveHappened: false, means: 'the member does not accept our certificate for this' },
  'no-answer': { mayHaveHappened: true, means: 'no answer came within the time given' },
  unreachable: { mayHaveHappened: true, means: 'there is no connection to the member' },
  unrecognised: { mayHaveHappened: true, means: 'the member answered with something we do not know' },
} as const satisfies Record<string, OutcomeRow>;

export type CallOutcome = keyof typeof outcomes;

/** The gRPC status codes that describe the connection and not etcd. */
const byCode: Readonly<Record<number, CallOutcome>> = {
  1: 'no-answer',
  4: 'no-answer',
  7: 'not-allowed',
  14: 'unreachable',
  16: 'not-allowed',
};

export function classify(code: number, details: string): CallOutcome {
  const prefix = 'etcdserver: ';
  if (details.startsWith(prefix)) {
    const said = details.slice(prefix.length);
    const rows = Object.entries(outcomes) as readonly (readonly [CallOutcome, OutcomeRow])[];
    const row = rows.find(([, { text }]) => text?.test(said));
    if (row !== undefined) return row[0];
  }
  return byCode[code] ?? 'unrecognised';
}
