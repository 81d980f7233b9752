// A waterfall as an SVG picture that needs nothing else: no scripts, no fonts; for light and dark backgrounds.
import { axisStepSeconds, endOf, type Waterfall, type WaterfallRow } from './waterfall-rows.ts';

const labels = 190;
const plot = 720;
const right = 90;
const top = 64;
const rowHeight = 18;
const groupGap = 26;
const bottom = 46;

const style = `
  text { font: 12px system-ui, sans-serif; fill: #24292f }
  .title { font-size: 16px; font-weight: 600 }
  .group { font-weight: 600 }
  .small { font-size: 11px; fill: #57606a }
  .back { fill: #ffffff }
  .grid { stroke: #d8dee4 }
  .work { fill: #1f6feb }
  .wait { fill: #f0c36d }
  .span { fill: #8c959f }
  .state { fill: #2da44e }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .small { fill: #9198a1 }
    .back { fill: #0d1117 }
    .grid { stroke: #30363d }
  }`;

const legend: readonly (readonly [WaterfallRow['kind'], string])[] = [
  ['work', 'works'],
  ['wait', 'waits for others'],
  ['span', 'all of it'],
  ['state', 'in use'],
];

export function waterfallSvg(waterfall: Waterfall): string {
  const { title, totalMs, startedAt, groups } = waterfall;
  const rows = groups.reduce((sum, group) => sum + group.rows.length, 0);
  const height = top + rows * rowHeight + groups.length * groupGap + bottom;
  const width = labels + plot + right;
  const x = (ms: number): number => labels + (ms / Math.max(1, totalMs)) * plot;
  let y = top;
  const body = groups.flatMap(({ name, rows: own }) => {
    y += groupGap;
    const head = text({ x: 12, y: y - 7, content: name, kind: 'group' });
    return [
      head,
      ...own.map((row) => {
        y += rowHeight;
        return rowShape(row, { x, y, waterfall });
      }),
    ];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<style>${style}\n</style>`,
    `<rect class="back" width="${width}" height="${height}"/>`,
    text({ x: 12, y: 26, content: `${title}: ${seconds(totalMs)}`, kind: 'title' }),
    text({ x: 12, y: 44, content: startedAt, kind: 'small' }),
    ...gridLines(totalMs, { x, height }),
    ...body,
    ...legend.flatMap(([kind, content], index) => [
      `<rect class="${kind}" x="${labels + index * 150}" y="${height - 26}" width="12" height="12" rx="2"/>`,
      text({ x: labels + index * 150 + 18, y: height - 16, content, kind: 'small' }),
    ]),
    '</svg>',
    '',
  ].join('\n');
}

interface Place {
  readonly x: (ms: number) => number;
  readonly y: number;
  readonly waterfall: Waterfall;
}

function rowShape(row: WaterfallRow, { x, y, waterfall }: Place): string {
  const endMs = endOf(row, waterfall);
  const from = x(row.fromMs);
  const width = Math.max(1.5, x(endMs) - from);
  const took = row.toMs === undefined ? 'goes on' : seconds(endMs - row.fromMs);
  return [
    text({ x: 24, y: y - 5, content: row.label }),
    `<rect class="${row.kind}" x="${from.toFixed(1)}" y="${y - 15}" width="${width.toFixed(1)}" height="12" rx="2"/>`,
    text({ x: Number((from + width + 5).toFixed(1)), y: y - 5, content: took, kind: 'small' }),
  ].join('');
}

function gridLines(totalMs: number, { x, height }: { x: (ms: number) => number; height: number }): readonly string[] {
  const step = axisStepSeconds(totalMs, 12);
  const lines: string[] = [];
  for (let at = 0; at * 1000 <= totalMs; at += step) {
    const place = x(at * 1000).toFixed(1);
    lines.push(`<line class="grid" x1="${place}" x2="${place}" y1="${top}" y2="${height - bottom + 6}"/>`);
    lines.push(text({ x: Number(place) - 4, y: top - 6, content: `${at} s`, kind: 'small' }));
  }
  return lines;
}

interface TextShape {
  readonly x: number;
  readonly y: number;
  readonly content: string;
  readonly kind?: 'title' | 'group' | 'small';
}

function text({ x, y, content, kind }: TextShape): string {
  const shown = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return `<text x="${x}" y="${y}"${kind === undefined ? '' : ` class="${kind}"`}>${shown}</text>`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
