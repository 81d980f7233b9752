// The questions of `create install-config`, as data. An answer is checked by the same schema and rules as the file, so
// that the dialogue never writes a file that reading would refuse.
import { mistakeSentence } from '../source-text/mistake.ts';
import { quoted } from '../source-text/quoted-text.ts';
import type { Architecture } from './architecture.ts';
import type { FoundSshKey } from './local-ssh-keys.ts';
import { checkInstallConfig, defaultInstallConfig } from './parse.ts';
import type { InstallConfigInput } from './schema.ts';

export interface Answers {
  readonly name: string;
  readonly baseDomain: string;
  readonly masters: number;
  readonly workers: number;
  /** Absent: nobody logs in by SSH. */
  readonly sshKey?: string;
}

export interface Question {
  readonly name: keyof Answers;
  /** Printed once, before the question is first asked. */
  readonly preamble: (keys: readonly FoundSshKey[]) => string;
  readonly text: string;
  /** What Enter alone means, as it would be typed. */
  readonly byDefault: (defaults: Answers, keys: readonly FoundSshKey[]) => string;
  /** The typed text as a value of the install-config; a text that is no number stays text, for the schema to refuse. */
  readonly read: (typed: string, keys: readonly FoundSshKey[]) => string | number | undefined;
}

const asNumber = (typed: string): string | number => (/^\d{1,9}$/.test(typed) ? Number(typed) : typed);
const nothing = (): string => '';
const printable = (text: string): string => quoted(text).slice(1, -1);

export const questions: readonly Question[] = [
  {
    name: 'name',
    preamble: nothing,
    text: 'Name of the cluster',
    byDefault: ({ name }) => name,
    read: (typed) => typed,
  },
  {
    name: 'baseDomain',
    preamble: nothing,
    text: 'Domain it lives in',
    byDefault: ({ baseDomain }) => baseDomain,
    read: (typed) => typed,
  },
  {
    name: 'masters',
    preamble: nothing,
    text: 'Masters (1, 3, 5 or 7)',
    byDefault: ({ masters }) => String(masters),
    read: asNumber,
  },
  { name: 'workers', preamble: nothing, text: 'Workers', byDefault: ({ workers }) => String(workers), read: asNumber },
  {
    name: 'sshKey',
    preamble: (keys) =>
      keys.map((key, i) => `  ${i + 1}  ${printable(key.file)}  ${printable(key.comment)}\n`).join(''),
    text: 'SSH key for logging in to machines: a number from above, a public key, or none',
    byDefault: (_, keys) => (keys.length > 0 ? '1' : 'none'),
    read: (typed, keys) => (typed === 'none' ? undefined : (keys[Number(typed) - 1]?.line ?? typed)),
  },
];

export function defaultAnswers(architecture: Architecture): Answers {
  const { metadata, baseDomain, controlPlane, compute } = defaultInstallConfig(architecture);
  return { name: metadata.name, baseDomain, masters: controlPlane.replicas, workers: compute[0].replicas };
}

/** The install-config of the answers, with the important defaults written out: the file shows where to change them. */
export function inputOf(answers: Answers, architecture: Architecture): InstallConfigInput {
  const { networkType, machineNetwork, clusterNetwork, serviceNetwork } = defaultInstallConfig(architecture).networking;
  return {
    apiVersion: 'v1',
    metadata: { name: answers.name },
    baseDomain: answers.baseDomain,
    platform: { local: {} },
    controlPlane: { name: 'master', replicas: answers.masters },
    compute: [{ name: 'worker', replicas: answers.workers }],
    networking: { networkType, machineNetwork, clusterNetwork, serviceNetwork },
    ...(answers.sshKey === undefined ? {} : { sshKey: answers.sshKey }),
  };
}

export type JudgedAnswer =
  | { readonly status: 'accepted'; readonly answers: Answers }
  | { readonly status: 'refused'; readonly reasons: readonly string[] };

/** Adds one typed answer to those already accepted, or says why it cannot be. */
export function judgeAnswer(
  question: Question,
  typed: string,
  known: { readonly answers: Answers; readonly keys: readonly FoundSshKey[]; readonly architecture: Architecture },
): JudgedAnswer {
  const { [question.name]: _, ...others } = known.answers;
  const value = question.read(typed, known.keys);
  // The typed value may have the wrong type; the check below finds that.
  const answers = { ...others, ...(value === undefined ? {} : { [question.name]: value }) } as Answers;
  const text = JSON.stringify(inputOf(answers, known.architecture));
  const checked = checkInstallConfig(text, { file: '', architecture: known.architecture });
  if (checked.status === 'valid') return { status: 'accepted', answers };
  return { status: 'refused', reasons: checked.mistakes.map(mistakeSentence) };
}
