// Repeated requests to several servers, where the slowest server must not delay the answers of the others. Each `look`
// sends a request to every server that has no open request, waits at most `patienceMs`, and takes the last answer
// per server. An answer can be as old as the duration of its request: do not use it where the current state is needed.
import type { Clock } from '../host/clock.ts';

export interface Standing {
  readonly clock: Clock;
  /** A server whose last answer is younger than this gets no new request. */
  readonly freshMs: number;
  /** How long a `look` waits for servers that have not answered. */
  readonly patienceMs: number;
}

interface Asked<T> {
  answer?: { readonly value: T; readonly atMs: number };
  asking?: Promise<void>;
  failure?: { readonly error: unknown };
}

export class StandingQuestions<T> {
  readonly #standing: Standing;
  readonly #asked = new Map<string, Asked<T>>();

  constructor(standing: Standing) {
    this.#standing = standing;
  }

  /** The last answers by name, without servers that have never answered. Throws the error of a failed question. */
  async look(questions: ReadonlyMap<string, () => Promise<T>>): Promise<ReadonlyMap<string, T>> {
    const { clock, patienceMs } = this.#standing;
    const under = [...questions].map(([name, ask]) => this.#ask(name, ask));
    const over = new AbortController();
    try {
      await Promise.race([Promise.all(under), clock.sleep(patienceMs, over.signal)]);
    } finally {
      over.abort(new Error('the look is over'));
    }
    const answers = new Map<string, T>();
    for (const name of questions.keys()) {
      const { answer, failure } = this.#asked.get(name) ?? {};
      if (failure !== undefined) throw failure.error;
      if (answer !== undefined) answers.set(name, answer.value);
    }
    return answers;
  }

  #ask(name: string, ask: () => Promise<T>): Promise<void> {
    const { clock, freshMs } = this.#standing;
    const asked = this.#asked.get(name) ?? {};
    this.#asked.set(name, asked);
    if (asked.asking !== undefined) return asked.asking;
    if (asked.answer !== undefined && clock.monotonicMs() - asked.answer.atMs < freshMs) return Promise.resolve();
    asked.asking = ask().then(
      (value) => {
        asked.answer = { value, atMs: clock.monotonicMs() };
        delete asked.asking;
        delete asked.failure;
      },
      (error: unknown) => {
        asked.failure = { error };
        delete asked.asking;
      },
    );
    return asked.asking;
  }
}
