// `Missing`: one thing that a program waits for. State files and events contain it. A new key means progress. No
// program parses the text; screens and errors get their sentence from `missingText`. The schema is in
// missing-schema.ts: every Firstlight process loads this file, but few of them read state files.

export interface Missing {
  /** The machine, member, service or object that is waited for. */
  readonly who: string;
  /** What is missing or wrong: a phrase that follows `who`. Empty if `who` is enough. */
  readonly what: string;
  /** Identifies the state: two waits for the same thing have the same key, even if their details differ. */
  readonly key: string;
  /** Amounts and last answers. They may change without progress. */
  readonly detail?: string;
  /** The machines that the wait concerns, if `who` is not the name of a machine. */
  readonly machines?: readonly string[];
  /** The duty of the same agent that must be settled first. */
  readonly duty?: string;
}

/** The default key is made from `who` and `what`. */
export function waitingFor(who: string, what = '', more: Partial<Omit<Missing, 'who' | 'what'>> = {}): Missing {
  return { who, what, key: `${who} ${what}`.trim(), ...more };
}

/** `etcd on master-1 to catch up: 12 of 3000 entries behind`. */
export function missingText({ who, what, detail }: Missing): string {
  const text = `${who} ${what}`.trim();
  return [text, detail ?? ''].filter((part) => part !== '').join(': ');
}

export function missingLine(missing: readonly Missing[]): string {
  return missing.map(missingText).join('; ');
}
