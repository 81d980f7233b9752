// The records of a service as a JSON array: start and end of the service and of each stage, with result and reason. The
// format is the one of the original bootkube, because existing tools read it. Each new record replaces the whole file
// atomically.
import { join } from 'node:path';
import { serviceRecordsFolder } from '../contract/machine-paths.ts';
import type { Host } from '../host/host.ts';
import type { WorkflowEvent } from '../workflow/events.ts';

interface ServiceRecord {
  readonly timestamp: string;
  readonly phase: 'service start' | 'service end' | 'stage start' | 'stage end';
  readonly stage?: string;
  readonly result?: 'success' | 'failure';
  readonly errorMessage?: string;
}

export interface ServiceRecords {
  readonly observe: (event: WorkflowEvent) => void;
  readonly end: (error?: unknown) => Promise<void>;
}

export async function openServiceRecords(
  host: Host,
  service: string,
  folder = serviceRecordsFolder,
): Promise<ServiceRecords> {
  const path = join(folder, `${service}.json`);
  await host.files.makeFolder(folder);
  const before = await host.files.readIfPresent(path);
  const records = before === undefined ? [] : (JSON.parse(Buffer.from(before).toString('utf8')) as ServiceRecord[]);
  let writing: Promise<void> = Promise.resolve();
  const add = (record: Omit<ServiceRecord, 'timestamp'>): void => {
    records.push({ timestamp: `${host.clock.now().toISOString().slice(0, 19)}Z`, ...record });
    const text = `${JSON.stringify(records, null, 2)}\n`;
    writing = writing.then(() => host.files.write(path, text));
  };
  add({ phase: 'service start' });
  return {
    observe: (event) => {
      if (event.kind === 'stage-started') add({ phase: 'stage start', stage: event.stage });
      if (event.kind === 'stage-done') add({ phase: 'stage end', stage: event.stage, result: 'success' });
      if (event.kind === 'stage-failed') {
        add({ phase: 'stage end', stage: event.stage, result: 'failure', errorMessage: messageOf(event.error) });
      }
    },
    end: async (error) => {
      const failed =
        error === undefined
          ? { result: 'success' as const }
          : { result: 'failure' as const, errorMessage: messageOf(error) };
      add({ phase: 'service end', ...failed });
      await writing;
    },
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
