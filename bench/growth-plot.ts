// How time, CPU and memory grow, as a picture: one panel each, one line per series, every point with its figure.
export interface GrowthPoint {
  readonly masters: number;
  readonly workers: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly memoryMb: number;
}

interface Series {
  readonly name: string;
  readonly color: string;
  readonly points: readonly { readonly x: number; readonly point: GrowthPoint }[];
}

interface Panel {
  readonly title: string;
  readonly value: (point: GrowthPoint) => number;
  readonly digits: number;
}

const panels: readonly Panel[] = [
  { title: 'time, s', value: ({ seconds }) => seconds, digits: 0 },
  { title: 'CPU, s', value: ({ cpuSeconds }) => cpuSeconds, digits: 0 },
  { title: 'peak memory, GB', value: ({ memoryMb }) => memoryMb / 1000, digits: 1 },
];
const size = { width: 300, height: 220, left: 30, top: 70, gap: 30 };

const style = `
  text { font: 12px system-ui, sans-serif; fill: #24292f }
  .title { font-size: 15px; font-weight: 600 }
  .small { font-size: 11px; fill: #57606a }
  .back { fill: #ffffff }
  .axis { stroke: #afb8c1; fill: none }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .small { fill: #9198a1 }
    .back { fill: #0d1117 }
    .axis { stroke: #57606a }
  }`;

export function growthSvg(title: string, points: readonly GrowthPoint[]): string {
  const of = (select: (point: GrowthPoint) => boolean, x: (point: GrowthPoint) => number): Series['points'] =>
    points
      .filter(select)
      .map((point) => ({ x: x(point), point }))
      .toSorted((a, b) => a.x - b.x);
  const series: readonly Series[] = [
    {
      name: 'masters, no workers',
      color: '#1f6feb',
      points: of(
        ({ workers }) => workers === 0,
        ({ masters }) => masters,
      ),
    },
    {
      name: 'workers beside 3 masters',
      color: '#bf8700',
      points: of(
        ({ masters }) => masters === 3,
        ({ workers }) => workers,
      ),
    },
  ];
  const width = panels.length * (size.width + size.gap) + size.gap;
  const height = size.top + size.height + 60;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<style>${style}\n</style><rect class="back" width="${width}" height="${height}"/>`,
    `<text class="title" x="${size.gap}" y="26">${title}</text>`,
    ...series.map(
      ({ name, color }, index) =>
        `<rect x="${size.gap + index * 190}" y="${height - 22}" width="12" height="12" rx="2" fill="${color}"/><text class="small" x="${size.gap + index * 190 + 18}" y="${height - 12}">${name}</text>`,
    ),
    ...panels.flatMap((panel, index) => panelShapes(panel, series, size.gap + index * (size.width + size.gap))),
    '</svg>',
    '',
  ].join('\n');
}

function panelShapes({ title, value, digits }: Panel, series: readonly Series[], left: number): readonly string[] {
  const all = series.flatMap(({ points }) => points);
  const mostX = Math.max(1, ...all.map(({ x }) => x));
  const mostY = Math.max(...all.map(({ point }) => value(point))) * 1.15;
  const px = (x: number): number => Math.round(left + size.left + (x / mostX) * (size.width - size.left - 20));
  const py = (y: number): number => Math.round(size.top + size.height * (1 - y / mostY));
  const bottom = size.top + size.height;
  const ticks = [...new Set(all.map(({ x }) => x))];
  return [
    `<text x="${left}" y="${size.top - 12}">${title}</text>`,
    `<path class="axis" d="M${left + size.left - 10} ${size.top} V${bottom} H${left + size.width}"/>`,
    ...ticks.map((x) => `<text class="small" x="${px(x) - 3}" y="${bottom + 16}">${x}</text>`),
    ...series.flatMap(({ color, points }, index) => {
      const line = points.map(({ x, point }) => `${px(x)},${py(value(point))}`).join(' ');
      const dots = points.map(({ x, point }) => {
        const [cx, cy] = [px(x), py(value(point))];
        const offset = index === 0 ? 18 : -9;
        return `<circle cx="${cx}" cy="${cy}" r="3.5" fill="${color}"/><text class="small" x="${cx - 8}" y="${cy + offset}">${value(point).toFixed(digits)}</text>`;
      });
      return [`<polyline points="${line}" fill="none" stroke="${color}" stroke-width="2"/>`, ...dots];
    }),
  ];
}
