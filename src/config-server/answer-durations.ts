// How long answers took, per route, as a histogram in the text format of Prometheus. Counted here and not by prom-client,
// which looks at every label and every bucket's name each time: a count is to cost nothing next to the answer.
export interface AnswerDurations {
  observe(route: string, seconds: number): void;
  text(): string;
}

interface Buckets {
  /** Per bound, without those below; the last is for what is above all bounds. */
  readonly counts: number[];
  sum: number;
}

export function answerDurations(name: string, help: string, bounds: readonly number[]): AnswerDurations {
  const routes = new Map<string, Buckets>();
  return {
    observe: (route, seconds) => {
      let buckets = routes.get(route);
      if (buckets === undefined) routes.set(route, (buckets = { counts: [...bounds, 0].map(() => 0), sum: 0 }));
      let at = 0;
      while (at < bounds.length && seconds > (bounds[at] ?? 0)) at += 1;
      buckets.counts[at] = (buckets.counts[at] ?? 0) + 1;
      buckets.sum += seconds;
    },
    text: () => {
      const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`];
      for (const [route, { counts, sum }] of routes) {
        let below = 0;
        for (const [at, count] of counts.entries()) {
          below += count;
          lines.push(`${name}_bucket{le="${bounds[at] ?? '+Inf'}",route="${route}"} ${below}`);
        }
        lines.push(`${name}_sum{route="${route}"} ${sum}`, `${name}_count{route="${route}"} ${below}`);
      }
      return `${lines.join('\n')}\n`;
    },
  };
}
