// What a run learnt and concluded, in the order in which it did: the material of `explain torcx`. A run that stops
// half-way has still said everything it knew until then.
export interface Fact {
  readonly topic: string;
  readonly value: string;
  readonly from: string;
  readonly notes: readonly string[];
}

export interface Ledger {
  readonly facts: Fact[];
  readonly conclusions: string[];
}

export function newLedger(): Ledger {
  return { facts: [], conclusions: [] };
}

export function record(ledger: Ledger, topic: string, known: Omit<Fact, 'topic'>): void {
  ledger.facts.push({ topic, ...known });
}
