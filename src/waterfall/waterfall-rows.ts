// A waterfall as data: stretches of time, in groups, on one axis. What they mean is decided elsewhere; here is only what
// the terminal and the picture both need to know.
export interface WaterfallRow {
  readonly label: string;
  /** `work` was done here, `wait` was for somebody else, `span` is the sum of other rows, `state` lasted. */
  readonly kind: 'work' | 'wait' | 'span' | 'state';
  readonly fromMs: number;
  /** Undefined while it goes on. */
  readonly toMs?: number;
}

export interface WaterfallGroup {
  readonly name: string;
  readonly rows: readonly WaterfallRow[];
}

export interface Waterfall {
  readonly title: string;
  /** When the first row begins, by the clock on the wall. */
  readonly startedAt: string;
  /** Rows count from here: 0 is the start of the run. */
  readonly totalMs: number;
  readonly groups: readonly WaterfallGroup[];
}

/** Seconds between two lines of the axis: a few lines, at a round distance. */
export function axisStepSeconds(totalMs: number, maxLines: number): number {
  const wanted = totalMs / 1000 / maxLines;
  return [1, 2, 5, 10, 20, 30, 60, 120, 300, 600].find((step) => step >= wanted) ?? Math.ceil(wanted / 600) * 600;
}

export interface LongestStep {
  readonly label: string;
  /** Where it took longest. */
  readonly group: string;
  readonly ms: number;
}

/** What took longest, each kind of step once: at the machine where it was slowest. */
export function longestSteps(waterfall: Waterfall, count: number): readonly LongestStep[] {
  const all = waterfall.groups.flatMap(({ name, rows }) =>
    rows
      .filter(({ kind, toMs }) => (kind === 'work' || kind === 'wait') && toMs !== undefined)
      .map((row): LongestStep => ({ label: row.label, group: name, ms: endOf(row, waterfall) - row.fromMs })),
  );
  const sorted = all.toSorted((a, b) => b.ms - a.ms);
  return sorted
    .filter(({ label }, index) => sorted.findIndex((other) => other.label === label) === index)
    .slice(0, count);
}

export function endOf(row: WaterfallRow, { totalMs }: Pick<Waterfall, 'totalMs'>): number {
  return row.toMs ?? totalMs;
}
