// The state of an agent as a file that can be read from outside the machine: what each duty waits for and since when.
// The file is replaced as a whole at every change, and not synced.
import { z } from 'zod';
import type { Files } from '../host/files.ts';
import { missingSchema } from './missing-schema.ts';

export const agentStateFile = '/var/lib/firstlight/agent.json';

const duty = z.object({
  name: z.string(),
  status: z.enum(['settled', 'acted', 'waiting']),
  since: z.iso.datetime(),
  /** What it waits for; empty unless it does. */
  missing: z.array(missingSchema),
  /** What it did, or a word on how it is settled. */
  note: z.string().exactOptional(),
});

export const agentStateSchema = z.object({
  format: z.literal(1),
  node: z.string(),
  role: z.enum(['master', 'worker']),
  pid: z.int(),
  at: z.iso.datetime(),
  /** Every duty is settled. */
  isSettled: z.boolean(),
  duties: z.array(duty),
});
export type AgentState = z.output<typeof agentStateSchema>;

/** Writes the newest state; those that came while one was being written are left out. */
export class StateWriter {
  readonly #files: Files;
  #next: AgentState | undefined;
  #writing: Promise<void> | undefined;

  constructor(files: Files) {
    this.#files = files;
  }

  put(state: AgentState): void {
    this.#next = state;
    this.#writing ??= this.#write();
  }

  /** Resolves when what was put is written. */
  async idle(): Promise<void> {
    await this.#writing;
  }

  async #write(): Promise<void> {
    try {
      while (this.#next !== undefined) {
        const state = this.#next;
        this.#next = undefined;
        const text = `${JSON.stringify(state, null, 2)}\n`;
        await this.#files.write(agentStateFile, text, { mode: 0o644, isDurable: false });
      }
    } finally {
      this.#writing = undefined;
    }
  }
}
