import { expect, test } from 'vitest';
import { classify, outcomes } from './outcomes.ts';

// The texts and codes as etcd 3.7 sends them; codes that differ in other versions are there twice.
test.each([
  [14, 'etcdserver: unhealthy cluster', 'unhealthy-cluster'],
  [9, 'etcdserver: can only promote a learner member which is in sync with leader', 'not-in-sync'],
  [9, 'etcdserver: can only promote a learner member', 'not-a-learner'],
  [9, 'etcdserver: too many learner members in cluster', 'too-many-learners'],
  [9, 'etcdserver: member ID already exist', 'member-exists'],
  [9, 'etcdserver: Peer URLs already exists', 'peer-url-exists'],
  [5, 'etcdserver: member not found', 'member-not-found'],
  [2, 'etcdserver: re-configuration failed due to not enough started members', 'not-enough-started'],
  [14, 'etcdserver: no leader', 'no-leader'],
  [14, 'etcdserver: leader changed', 'leader-changed'],
  [14, 'etcdserver: request timed out', 'timed-out-inside'],
  [14, 'etcdserver: request timed out, possibly due to previous leader failure', 'timed-out-inside'],
  [2, 'etcdserver: request timed out, leader transfer took too long', 'timed-out-inside'],
  [9, 'etcdserver: rpc not supported for learner', 'learner-cannot-serve'],
  [14, 'etcdserver: rpc not supported for learner', 'learner-cannot-serve'],
  [9, 'etcdserver: not leader', 'not-leader'],
  [9, 'etcdserver: bad leader transferee', 'bad-transferee'],
  [8, 'etcdserver: mvcc: database space exceeded', 'no-space'],
  [15, 'etcdserver: corrupt cluster', 'corrupt'],
  [14, 'etcdserver: server stopped', 'stopped'],
  [2, 'etcdserver: too many requests', 'too-many-requests'],
  [7, 'etcdserver: permission denied', 'not-allowed'],
  [4, 'Deadline exceeded after 1.001s', 'no-answer'],
  [14, 'No connection established. Last error: connect ECONNREFUSED', 'unreachable'],
  [13, 'Received RST_STREAM with code 2', 'unrecognised'],
] as const)('%i "%s" is %s', (code, text, outcome) => {
  expect(classify(code, text)).toBe(outcome);
});

test('whatever says nothing about the change may have happened', () => {
  const unsure = ['no-answer', 'unreachable', 'unrecognised', 'timed-out-inside', 'leader-changed', 'stopped'] as const;
  expect(unsure.every((outcome) => outcomes[outcome].mayHaveHappened)).toBe(true);
});
