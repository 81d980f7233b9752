// Runs one stage of a payload on the machine that this process sees, as the unit on a host does, and prints as JSON what
// was reported and how it ended. Usage: node run-stage.ts SETTINGS-FILE base|kube
import { readFileSync } from 'node:fs';
import { type Drift, findDrift } from '../../../src/config-daemon/find-drift.ts';
import { type AttemptSettings, attemptSettingsSchema } from '../../../src/contract/in-place.ts';
import { realHost } from '../../../src/host/real/real-host.ts';
import { runPayloadStage, type StageEvent, type StageOutcome } from '../../../src/in-place/on-host/route-payload.ts';
import type { PayloadStage } from '../../../src/in-place/payload/payload-steps.ts';
import { sampleMachineConfig } from '../../../src/in-place/payload/sample-payload.ts';

export interface StageRecord {
  readonly events: readonly StageEvent[];
  readonly outcome: StageOutcome;
  /** What the daemon of the machine would find different from the sample config after stage B. */
  readonly drift: readonly Drift[];
}

async function runStage(settings: AttemptSettings, stage: PayloadStage): Promise<Omit<StageRecord, 'drift'>> {
  const events: StageEvent[] = [];
  const at = '2026-01-01T00:00:00Z';
  const outcome = await runPayloadStage(
    realHost(),
    {
      settings,
      // The reboot in between is another boot's matter: this tree has none.
      history: [
        { phase: 'LabelCleared', at, bootId: 'the boot before' },
        { phase: 'Applying', at, bootId: 'the boot before' },
      ],
      report: async (event) => void events.push(event),
      remainingMs: 100_000,
      signal: new AbortController().signal,
    },
    stage,
  );
  return { events, outcome };
}

const [file = '', stage = ''] = process.argv.slice(2);
const settings = attemptSettingsSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
const record = await runStage(settings, stage as PayloadStage);
const drift = stage === 'kube' ? await findDrift(realHost(), sampleMachineConfig().spec) : [];
process.stdout.write(`${JSON.stringify({ ...record, drift })}\n`);
