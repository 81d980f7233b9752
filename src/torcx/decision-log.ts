// The facts and conclusions of one run in their order, which `explain torcx` prints. Each is recorded at once, so a run
// that stops half-way still has everything that it learnt until then.
export interface Fact {
  readonly topic: string;
  readonly value: string;
  readonly from: string;
  readonly notes: readonly string[];
}

export interface DecisionLog {
  readonly facts: Fact[];
  readonly conclusions: string[];
}

export function newDecisionLog(): DecisionLog {
  return { facts: [], conclusions: [] };
}

export function recordFact(log: DecisionLog, topic: string, known: Omit<Fact, 'topic'>): void {
  log.facts.push({ topic, ...known });
}
