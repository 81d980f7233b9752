// A waterfall as data: spans of time, in groups, on one axis. Only what the text and the picture both need; lanes.ts
// decides which spans there are.
export interface WaterfallRow {
  readonly label: string;
  /** `work`: the machine worked. `wait`: it waited for others. `span`: a stage as a whole. `state`: a state lasted. */
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
  /** The start of the run, as a date and time. */
  readonly startedAt: string;
  /** Times of rows are counted from the start of the run. */
  readonly totalMs: number;
  readonly groups: readonly WaterfallGroup[];
}

/** Seconds between two lines of the axis: a round number, so that there are at most `maxLines` lines. */
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

/** The steps that took longest; each label once, at the machine where it took longest. */
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
