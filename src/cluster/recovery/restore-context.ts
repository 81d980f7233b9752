// What the stages of `restore` share beyond those of `create cluster`, and the record that a restore was begun.
import { z } from 'zod';
import type { RestoreUnderWay } from '../../disaster-recovery/decide-restore.ts';
import type { JournalRecord } from '../../workflow/journal.ts';
import type { ClusterContext } from '../cluster-context.ts';
import type { OpenedBackup } from './open-backup.ts';

export interface RestoreContext extends ClusterContext {
  readonly backup: OpenedBackup;
  /** Machines that are destroyed before the restore begins, as the person said. */
  readonly destroyed: readonly string[];
}

const recordKind = 'restore';
const recordSchema = z.object({ id: z.string(), beganAt: z.string(), sha256: z.string() });

export function restoreRecord(underWay: RestoreUnderWay): JournalRecord {
  return { kind: recordKind, at: underWay.beganAt, ...underWay };
}

/** The restore that this journal is about; undefined before the first machine of it was made. */
export function restoreUnderWay(records: readonly JournalRecord[]): RestoreUnderWay | undefined {
  const found = records.findLast(({ kind }) => kind === recordKind);
  return found === undefined ? undefined : recordSchema.parse(found);
}
