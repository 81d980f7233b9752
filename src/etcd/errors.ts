// Errors of calls to etcd and of its data folder, with what a person can do about them.
import { exitCodes } from '../errors/exit-codes.ts';
import { errorTable } from '../errors/firstlight-error.ts';
import { type CallOutcome, outcomes } from './outcomes.ts';

export const etcdErrors = errorTable('ETCD', {
  CALL: {
    message: (e: { call: string; url: string; outcome: CallOutcome; said: string }) =>
      `etcd at ${e.url} did not do ${e.call}: ${outcomes[e.outcome].means} (${e.said})`,
    hint: (e: { outcome: CallOutcome }) =>
      outcomes[e.outcome].mayHaveHappened
        ? 'It may have happened all the same: read the member list before anything is repeated.'
        : 'Nothing was changed. firstlight status shows the members and what each of them says.',
    means: 'A member of etcd refused a call, or no answer came. The details carry the outcome by name.',
    exit: exitCodes.infrastructure,
  },
  SNAPSHOT_IDLE: {
    message: (e: { url: string; seconds: number }) => `the snapshot from ${e.url} stopped for ${e.seconds} s`,
    hint: 'Nothing of it was kept. Take it again, from another voter if this one is slow.',
    means: 'A snapshot is a stream; when no byte comes for a while, the member or the network has stopped.',
    exit: exitCodes.infrastructure,
  },
  BAD_URL: {
    message: (e: { url: string }) => `${e.url} is not an https URL with a port, as etcd members announce them`,
    hint: 'Compare --advertise-client-urls of that member.',
    means: 'Members of a cluster are spoken to over TLS only, at the client URL that they published themselves.',
    exit: exitCodes.infrastructure,
  },
  WAL_UNREADABLE: {
    message: (e: { path: string; reason: string }) => `${e.path} is not the log of an etcd member: ${e.reason}`,
    hint: 'The data folder is damaged or foreign. Nothing was changed; move it away once its member is out of the list.',
    means: 'The first records of the write-ahead log name the member and the cluster; here they do not.',
    exit: exitCodes.infrastructure,
  },
});
