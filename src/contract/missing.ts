// What somebody waits for, as a value: it travels in state files and events, and movement is a key that was not there
// before. Nobody parses its words; screens and errors make their sentence with `missingText`.
// Without its schema (missing-schema.ts): every process of ours loads this file, and few of them read state files.

export interface Missing {
  /** The machine, member, service or object that is waited for. */
  readonly who: string;
  /** What is missing or wrong with it: a phrase that follows `who`. Empty where `who` says all. */
  readonly what: string;
  /** Identifies the state: waiting for the same thing again has the same key, whatever its details are. */
  readonly key: string;
  /** Amounts and last answers, which may change without anything having moved. */
  readonly detail?: string;
  /** The machines that the wait is about, where `who` is not the name of a machine. */
  readonly machines?: readonly string[];
  /** The duty of the same agent that has to be settled first. */
  readonly duty?: string;
}

/** `who` and `what` identify the state unless another key is given. */
export function waitingFor(who: string, what = '', more: Partial<Omit<Missing, 'who' | 'what'>> = {}): Missing {
  return { who, what, key: `${who} ${what}`.trim(), ...more };
}

/** `etcd on master-1 to catch up: 12 of 3000 entries behind`. */
export function missingText({ who, what, detail }: Missing): string {
  const text = `${who} ${what}`.trim();
  return [text, detail ?? ''].filter((part) => part !== '').join(': ');
}

/** All of them in one line. */
export function missingLine(missing: readonly Missing[]): string {
  return missing.map(missingText).join('; ');
}
