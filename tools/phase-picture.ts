// The picture of the phases in docs/in-place.md, drawn from the table that host and controller act by.
// Usage: node tools/phase-picture.ts writes docs/in-place.svg; phase-picture.test.ts fails when the file is not current.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type InPlacePhase, inPlacePhases } from '../src/contract/in-place.ts';
import { type PhaseOwner, phaseTable } from '../src/in-place/phases.ts';
import { wrapText } from '../src/install-config/wrap-text.ts';

export const pictureFile = fileURLToPath(new URL('../docs/in-place.svg', import.meta.url));

/** From left to right; the host has one column per route, and their middle for phases of both. */
const lanes: readonly { readonly owner: PhaseOwner; readonly x: number; readonly title: string }[] = [
  { owner: 'person', x: 80, title: 'a person' },
  { owner: 'controller', x: 230, title: 'the controller' },
  { owner: 'pod', x: 380, title: 'the pod' },
  { owner: 'host', x: 590, title: 'the host' },
];
const routeShift = { rhcos: -72, rhel: 72 } as const;
const box = { width: 128, height: 30 };
const rowHeight = 56;
const top = 86;
const wordsX = 760;
const width = 1180;
const wordsColumns = 64;

const style = `
  text { font: 12px system-ui, sans-serif; fill: #24292f }
  .title { font-size: 16px; font-weight: 600 }
  .lane { font-weight: 600; text-anchor: middle }
  .name { text-anchor: middle; fill: #ffffff; font-weight: 600 }
  .small { font-size: 11px; fill: #57606a }
  .back { fill: #ffffff }
  .held { fill: #fff1d6 }
  .arrow { fill: none; stroke: #57606a; stroke-width: 1.4; marker-end: url(#tip) }
  .tip { fill: #57606a }
  .person { fill: #6e7781 } .controller { fill: #1f6feb } .pod { fill: #8250df } .host { fill: #bc4c00 }
  .good { fill: #1a7f37 } .bad { fill: #cf222e }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .small { fill: #9198a1 }
    .back { fill: #0d1117 }
    .held { fill: #2b2111 }
    .arrow { stroke: #9198a1 }
    .tip { fill: #9198a1 }
  }`;

interface Place {
  readonly x: number;
  /** The middle of the box. */
  readonly y: number;
}

const places: ReadonlyMap<InPlacePhase, Place> = new Map(
  inPlacePhases.map((phase, row) => {
    const { owner, only } = phaseTable[phase];
    const lane = lanes.find((one) => one.owner === owner)?.x ?? 0;
    return [phase, { x: lane + (only === undefined ? 0 : routeShift[only]), y: top + row * rowHeight }];
  }),
);

function placeOf(phase: InPlacePhase): Place {
  return places.get(phase) ?? { x: 0, y: 0 };
}

export function phasePicture(): string {
  const height = top + inPlacePhases.length * rowHeight + 16;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<style>${style}\n</style>`,
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">',
    '<path class="tip" d="M0 0 8 4 0 8z"/></marker></defs>',
    `<rect class="back" width="${width}" height="${height}"/>`,
    text({ x: 16, y: 28, kind: 'title', content: 'The phases of an attempt, and whose act ends each' }),
    ...heldBand(),
    ...lanes.map(({ x, title }) => text({ x, y: 56, kind: 'lane', content: title })),
    ...inPlacePhases.flatMap(arrows),
    ...inPlacePhases.flatMap(phaseShape),
    '</svg>',
    '',
  ].join('\n');
}

/** Behind the rows in which no kubelet runs. */
function heldBand(): readonly string[] {
  const rows = inPlacePhases.flatMap((phase, row) => (phaseTable[phase].holdsKubelet ? [row] : []));
  const y = top + (rows[0] ?? 0) * rowHeight - rowHeight / 2 + 2;
  const height = rows.length * rowHeight - 4;
  const words = { x: 20, y: y + 16, kind: 'small', content: 'no kubelet runs' } as const;
  return [`<rect class="held" x="12" y="${y}" width="${width - 24}" height="${height}" rx="6"/>`, text(words)];
}

/** To the phases that may follow; ends that are no success are named in words instead. */
function arrows(phase: InPlacePhase): readonly string[] {
  const from = placeOf(phase);
  return phaseTable[phase].next.filter(isOnTheWay).map((next) => {
    const to = placeOf(next);
    const begin = from.y + box.height / 2;
    const end = to.y - box.height / 2 - 2;
    const way = from.x === to.x ? `V${end}` : `V${end - 9}H${to.x}V${end}`;
    return `<path class="arrow" d="M${from.x} ${begin}${way}"/>`;
  });
}

function isOnTheWay(phase: InPlacePhase): boolean {
  return phase === 'Succeeded' || phaseTable[phase].isEnd !== true;
}

function phaseShape(phase: InPlacePhase): readonly string[] {
  const { owner, why, only, isEnd } = phaseTable[phase];
  const { x, y } = placeOf(phase);
  const kind = isEnd === true ? (phase === 'Succeeded' ? 'good' : 'bad') : owner;
  const words = [
    ...wrapText(only === undefined ? why : `${only} only. ${why}`, { width: wordsColumns, margin: '' }),
    ...otherEnds(phase),
  ];
  const firstY = y - ((words.length - 1) * 14) / 2 + 4;
  return [
    `<rect class="${kind}" x="${x - box.width / 2}" y="${y - box.height / 2}" width="${box.width}" height="${box.height}" rx="5"/>`,
    text({ x, y: y + 4, kind: 'name', content: phase }),
    ...words.map((content, line) => text({ x: wordsX, y: firstY + line * 14, kind: 'small', content })),
  ];
}

/** `else Failed; after 10 min Failed (LabelClearTimeout)`, as far as there is such an end. */
function otherEnds(phase: InPlacePhase): readonly string[] {
  const { next, limitMs, onLimit } = phaseTable[phase];
  const ends = next.filter((one) => !isOnTheWay(one));
  const said = [
    ...(ends.length === 0 ? [] : [`else ${ends.join(', ')}`]),
    ...(limitMs === undefined || onLimit === undefined
      ? []
      : [`after ${limitMs / 60_000} min ${onLimit.phase} (${onLimit.code})`]),
  ];
  return said.length === 0 ? [] : [said.join('; ')];
}

interface TextShape {
  readonly x: number;
  readonly y: number;
  readonly content: string;
  readonly kind: 'title' | 'lane' | 'name' | 'small';
}

function text({ x, y, content, kind }: TextShape): string {
  const shown = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return `<text class="${kind}" x="${x}" y="${y}">${shown}</text>`;
}

if (import.meta.main) writeFileSync(pictureFile, phasePicture());
