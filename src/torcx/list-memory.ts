// Which signed package lists this node has accepted. A signature proves who signed, not for which OS version or that
// nothing newer exists, and the original lists name neither: without a memory, whoever answers for the bucket could
// serve an old list, or that of another OS version, and bring back an old docker. The file is only read and replaced
// while the lock of a run is held.
import { z } from 'zod';
import { jsonIfValid } from '../host/json-if-valid.ts';
import { digestOf } from '../workflow/digest.ts';
import { nodePaths, type TorcxContext } from './context.ts';
import { renderManifestUrl } from './manifest-url.ts';
import type { ManifestSigner } from './openpgp-signature.ts';
import type { ListSubject } from './package-manifest.ts';

const acceptedSchema = z.object({
  board: z.string(),
  osVersion: z.string(),
  signedAt: z.iso.datetime(),
  /** Digest of the signature: the same signature for another subject is a copy. */
  signature: z.string(),
});
const memorySchema = z.object({ format: z.literal(1), lists: z.array(acceptedSchema) });

export type AcceptedList = z.infer<typeof acceptedSchema>;

const keptMax = 64;

export interface ListMemory {
  /** Remembers a list whose signature is good, or says why it is not the one that was asked for. */
  readonly accept: (list: AcceptedList, isBound: boolean) => string | undefined;
  /** The new content of the file, if this run has accepted something new. */
  readonly changed: () => string | undefined;
}

export async function openListMemory(context: TorcxContext): Promise<ListMemory> {
  const before = await readMemory(context);
  let lists = before;
  const urlOf = (subject: ListSubject): string => renderManifestUrl(context.settings.manifestUrl, subject);
  return {
    accept: (list, isBound) => {
      const reason = replayReason(list, lists, { isBound, urlOf });
      if (reason === undefined) lists = [...lists.filter((known) => !isSameSubject(known, list)), list].slice(-keptMax);
      return reason;
    },
    changed: () => {
      const [was, is] = [before, lists].map((known) => JSON.stringify({ format: 1, lists: known }, null, 2));
      return was === is ? undefined : `${is}\n`;
    },
  };
}

/** As it is remembered: a date in the future of this node must not lock out every later list. */
export function acceptedList(
  subject: ListSubject,
  { signer, signature, now }: { readonly signer: ManifestSigner; readonly signature: Uint8Array; readonly now: Date },
): AcceptedList {
  const signedAt = signer.signedAt > now ? now : signer.signedAt;
  return { ...subject, signedAt: signedAt.toISOString(), signature: digestOf(signature) };
}

interface ReplayRules {
  /** The content itself says what it is for. */
  readonly isBound: boolean;
  /** A template without variables means that one list is for all. */
  readonly urlOf: (subject: ListSubject) => string;
}

export function replayReason(
  list: AcceptedList,
  known: readonly AcceptedList[],
  { isBound, urlOf }: ReplayRules,
): string | undefined {
  const newest = known.find((one) => isSameSubject(one, list));
  if (newest !== undefined && Date.parse(newest.signedAt) > Date.parse(list.signedAt)) {
    return `it was signed at ${list.signedAt}, and this node has accepted one signed at ${newest.signedAt}`;
  }
  const origin = known.find((one) => one.signature === list.signature && urlOf(one) !== urlOf(list));
  if (isBound || origin === undefined) return undefined;
  return `it is the list that this node has accepted for OS ${origin.osVersion} on ${origin.board}`;
}

function isSameSubject(a: ListSubject, b: ListSubject): boolean {
  return a.board === b.board && a.osVersion === b.osVersion;
}

async function readMemory({ host, at, say }: TorcxContext): Promise<readonly AcceptedList[]> {
  const content = await host.files.readIfPresent(at(nodePaths.acceptedLists));
  if (content === undefined) return [];
  const memory = memorySchema.safeParse(jsonIfValid(content)).data;
  if (memory === undefined) say('warn', `${nodePaths.acceptedLists} is not understood and is begun anew`);
  return memory?.lists ?? [];
}
