// A waterfall on a terminal: 80 columns, no colours, one line per row with its bar, its start and how long it took.
import { axisStepSeconds, endOf, longestSteps, type Waterfall, type WaterfallRow } from './waterfall-rows.ts';

const labelWidth = 22;
const barWidth = 42;
/** Space, start, space, duration. */
const numbersWidth = 80 - labelWidth - barWidth;
const signs = { work: '█', wait: '░', span: '▬', state: '─' } as const;

export function waterfallText(waterfall: Waterfall): string {
  const { title, totalMs, groups } = waterfall;
  const head = `${cut(title, 60).padEnd(80 - 10)}${`${seconds(totalMs)} s`.padStart(10)}`;
  const axis = `${' '.repeat(labelWidth)}${axisLine(totalMs)}${'start   took'.padStart(numbersWidth)}`;
  const lines = groups.flatMap(({ name, rows }) => ['', name, ...rows.map((row) => rowLine(row, waterfall))]);
  const legend = '█ works   ░ waits for others   ▬ all of it   ─ in use';
  const longest = longestSteps(waterfall, 5).map(
    ({ label, group, ms }) => `  ${seconds(ms).padStart(5)} s  ${label}, ${group}`,
  );
  return `${[head, '', axis.trimEnd(), ...lines.slice(1), '', legend, '', 'longest', ...longest].join('\n')}\n`;
}

function rowLine(row: WaterfallRow, waterfall: Waterfall): string {
  const scale = barWidth / Math.max(1, waterfall.totalMs);
  const endMs = endOf(row, waterfall);
  const from = Math.min(barWidth - 1, Math.floor(row.fromMs * scale));
  const to = Math.max(from + 1, Math.min(barWidth, Math.round(endMs * scale)));
  const bar = `${' '.repeat(from)}${signs[row.kind].repeat(to - from)}`.padEnd(barWidth);
  const took = row.toMs === undefined ? 'goes on' : `${seconds(endMs - row.fromMs)} s`;
  const label = cut(`  ${row.label}`, labelWidth - 1).padEnd(labelWidth);
  return `${label}${bar}${seconds(row.fromMs).padStart(7)}${took.padStart(numbersWidth - 7)}`;
}

function axisLine(totalMs: number): string {
  const step = axisStepSeconds(totalMs, 6);
  let line = '';
  for (let at = 0; at * 1000 <= totalMs; at += step) {
    const column = Math.floor((at * 1000 * barWidth) / Math.max(1, totalMs));
    if (column + String(at).length <= barWidth) line = `${line.padEnd(column)}${at}`;
  }
  return line.padEnd(barWidth);
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}
