// Replaces the key that encrypts Secrets while the cluster serves: observe, do the next step, observe again. Masters
// follow by themselves; kube-apiserver looks at its file once a minute, so each of the three changes takes about that.
import { missingLine } from '../contract/missing.ts';
import { type EncryptionKeys, newEncryptionKey } from '../contract/secrets-encryption.ts';
import { isError } from '../errors/firstlight-error.ts';
import type { Host } from '../host/host.ts';
import { apiPatience } from '../kubernetes/api-patience.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import { kubernetesErrors } from '../kubernetes/errors.ts';
import { workflowErrors } from '../workflow/errors.ts';
import type { Emit } from '../workflow/events.ts';
import { retry } from '../workflow/retry.ts';
import { waitUntil } from '../workflow/wait.ts';
import { changeEncryptionState } from './encryption-state.ts';
import { secretsEncryptionErrors } from './errors.ts';
import { nextRotationStep, type RotationMemory, type RotationStep } from './next-step.ts';
import { observeEncryption } from './observe-encryption.ts';
import { rewriteSecrets } from './rewrite-secrets.ts';

/** A minute until kube-apiserver looks at its file, some seconds for agents, and a reboot of a master in between. */
const loadedWithinMs = 180_000;
const lookEveryMs = 2_000;

export interface RotateKey {
  readonly client: KubernetesClient;
  readonly host: Host;
  readonly signal: AbortSignal;
  readonly emit: Emit;
  /** Called with the new keys before the rotation counts as finished. */
  readonly onRotated: (text: string) => Promise<void>;
}

export interface Rotation {
  /** The key that encrypts now. */
  readonly key: string;
  /** Secrets that were written again by this command. */
  readonly rewritten: number;
}

export async function rotateKey(rotation: RotateKey): Promise<Rotation> {
  const { client, host, signal, emit } = rotation;
  const tell = (text: string): void => emit({ kind: 'notice', level: 'info', text });
  let memory: RotationMemory = { rotatingTo: undefined, isRewritten: false };
  let rewritten = 0;
  for (;;) {
    const step = await stepToDo(rotation, memory);
    if (step.kind === 'done') return { key: step.state.keys[0].name, rewritten };
    memory = { ...memory, rotatingTo: step.state.rotatingTo };
    if (step.kind === 'rewrite') {
      rewritten += await rewriteSecrets({ client, host, signal, onProgress: progressTeller(tell) });
      memory = { ...memory, isRewritten: true };
      continue;
    }
    tell(sentences[step.kind]);
    if (step.kind === 'finish') await rotation.onRotated(step.state.text);
    await change(rotation, step);
  }
}

type Changing = Exclude<RotationStep, { kind: 'wait' | 'rewrite' | 'done' }>;

const sentences: Readonly<Record<Changing['kind'], string>> = {
  add: 'every master learns to read a new key',
  promote: 'every master encrypts by the new key',
  drop: 'every master forgets the old key',
  finish: 'every Secret is encrypted by the new key, and no master has another one',
};

/** Waits while masters load what the step before has changed. */
async function stepToDo(
  { client, host, signal, emit }: RotateKey,
  memory: RotationMemory,
): Promise<Exclude<RotationStep, { kind: 'wait' }>> {
  try {
    return await waitUntil({
      clock: host.clock,
      what: 'the change of keys on every master',
      deadlineMs: loadedWithinMs,
      everyMs: lookEveryMs,
      signal,
      probe: async () => {
        const seen = await retry(apiPatience({ host, signal }), () => observeEncryption(client, { signal }));
        const step = nextRotationStep(seen, memory);
        return step.kind === 'wait' ? { status: 'waiting', missing: step.missing } : { status: 'ready', value: step };
      },
      onMissing: (missing) => emit({ kind: 'notice', level: 'info', text: `waiting for ${missingLine(missing)}` }),
    });
  } catch (error) {
    if (!isError(error, workflowErrors.DEADLINE)) throw error;
    const { missing, seconds } = error.details;
    throw secretsEncryptionErrors.MASTERS_BEHIND({ missing, seconds }, { cause: error });
  }
}

async function change({ client, host, signal }: RotateKey, step: Changing): Promise<void> {
  const after = changeOf(step, host);
  try {
    await retry(apiPatience({ host, signal }), () => changeEncryptionState(client, step.state, { ...after, signal }));
  } catch (error) {
    // Another command rotates too, or this change was made although its answer was lost: the next look shows it.
    if (!isError(error, kubernetesErrors.CONFLICT)) throw error;
  }
}

function changeOf(
  step: Changing,
  host: Host,
): { readonly keys: EncryptionKeys; readonly rotatingTo: string | undefined } {
  const { keys, rotatingTo } = step.state;
  if (step.kind === 'finish') return { keys, rotatingTo: undefined };
  if (step.kind !== 'add') return { keys: step.keys, rotatingTo };
  const added = newEncryptionKey(host.random, host.clock.now());
  return { keys: [...keys, added], rotatingTo: added.name };
}

/** At most ten lines, however many Secrets there are. */
function progressTeller(tell: (text: string) => void): (done: number, all: number) => void {
  let told = 0;
  return (done, all) => {
    const tenth = Math.floor((done * 10) / all);
    if (tenth === told) return;
    told = tenth;
    tell(`${done} of ${all} Secrets are written again`);
  };
}
