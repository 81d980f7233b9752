// The timeline of a machine: one JSON line per event, to find out later how long each step took. A process records a
// step only once, from its beginning until it is done, so the file stays small even if the machine runs for years. No
// program depends on the file: a line that cannot be written is left out.
import { dirname } from 'node:path';
import { z } from 'zod';
import type { Host } from '../host/host.ts';

/** Path inside the machine. */
export const timelineFile = '/var/lib/firstlight/timeline';

const momentSchema = z.object({
  at: z.iso.datetime(),
  /** The program that recorded the moment. */
  by: z.string(),
  step: z.string(),
  state: z.enum(['began', 'moved', 'done', 'failed']),
  /** Text for people. */
  text: z.string().exactOptional(),
  /** Identifies the event for programs. */
  key: z.string().exactOptional(),
});
export type Moment = z.output<typeof momentSchema>;

/** The key of the moment at which an agent has written a static pod. From then on the kubelet can start the pod. */
export const podWrittenKey = 'pod-written';

export type MomentNote = Pick<Moment, 'text' | 'key'>;

export interface Timeline {
  /** Returns at once; the line is written later. */
  readonly mark: (step: string, state: Moment['state'], note?: MomentNote) => void;
  /** Resolves when all lines are written. */
  readonly idle: () => Promise<void>;
}

const mostBytes = 256 * 1024;
const longestText = 160;

export function openTimeline(host: Pick<Host, 'files' | 'clock'>, by: string): Timeline {
  const over = new Set<string>();
  const begun = new Set<string>();
  const write = lineWriter(host);
  return {
    mark: (step, state, { text, key } = {}) => {
      if (over.has(step) || (state === 'began' && begun.has(step))) return;
      if (state === 'began') begun.add(step);
      if (state === 'done') over.add(step);
      const at = host.clock.now().toISOString();
      const moment: Moment = {
        at,
        by,
        step,
        state,
        ...(text === undefined ? {} : { text: text.slice(0, longestText) }),
        ...(key === undefined ? {} : { key }),
      };
      write.add(`${JSON.stringify(moment)}\n`);
    },
    idle: write.idle,
  };
}

/** Lines that arrive during a write are written together in the next one. Between writes the file is closed. */
function lineWriter({ files }: Pick<Host, 'files'>): { add: (line: string) => void; idle: () => Promise<void> } {
  let waiting: string[] = [];
  let writing: Promise<void> | undefined;
  let isOver = false;
  const write = async (): Promise<void> => {
    try {
      await files.makeFolder(dirname(timelineFile));
      isOver = ((await files.facts(timelineFile))?.sizeBytes ?? 0) > mostBytes;
      if (isOver) return;
      await using log = await files.openAppend(timelineFile, { mode: 0o644, isDurable: false });
      while (waiting.length > 0) {
        const lines = waiting.join('');
        waiting = [];
        await log.append(lines);
      }
    } catch {
      isOver = true;
    } finally {
      // Lines may arrive while the file is being closed.
      writing = waiting.length > 0 && !isOver ? write() : undefined;
    }
  };
  return {
    add: (line) => {
      if (isOver) return;
      waiting.push(line);
      writing ??= write();
    },
    idle: async () => {
      for (let last = writing; last !== undefined; last = writing) await last;
    },
  };
}

/** All complete lines; a line that a crash has cut is left out. */
export function parseTimeline(text: string): readonly Moment[] {
  return text.split('\n').flatMap((line) => {
    try {
      const parsed = momentSchema.safeParse(JSON.parse(line));
      return parsed.success ? [parsed.data] : [];
    } catch {
      return [];
    }
  });
}
