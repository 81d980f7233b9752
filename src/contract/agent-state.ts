// The state file of an agent: what each duty waits for, and since when. Programs outside the machine read it. Every
// change replaces the whole file. The file is not synced to the disk.
import { z } from 'zod';
import type { Files } from '../host/files.ts';
import { missingSchema } from './missing-schema.ts';

export const agentStateFile = '/var/lib/firstlight/agent.json';

const duty = z.object({
  name: z.string(),
  status: z.enum(['settled', 'acted', 'waiting']),
  since: z.iso.datetime(),
  /** What the duty waits for; empty if the duty does not wait. */
  missing: z.array(missingSchema),
  /** What the duty did, or a remark about the settled state. */
  note: z.string().exactOptional(),
});

export const agentStateSchema = z.object({
  format: z.literal(1),
  node: z.string(),
  role: z.enum(['master', 'worker']),
  pid: z.int(),
  at: z.iso.datetime(),
  /** True when every duty is settled. */
  isSettled: z.boolean(),
  duties: z.array(duty),
});
export type AgentState = z.output<typeof agentStateSchema>;

/** Writes the newest state. If several states arrive during one write, only the last of them is written. */
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

  /** Resolves when the newest state is written. */
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
