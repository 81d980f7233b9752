// The screen of a long command as a pure function: a view → lines of text. A terminal draws all lines in place; a pipe
// gets the lines that changed. Every state has its own sign: colours never carry information alone.
import { shownLine, type TerminalColor } from '../host/terminal-text.ts';

export interface FrameView {
  readonly title: string;
  readonly elapsedMs: number;
  readonly steps: readonly FrameStep[];
  /** Members of etcd; none while there is nothing to show. */
  readonly members: readonly FrameMember[];
  /** Where a person holds it, and what goes on; a line each, where there is room for that. */
  readonly held?: readonly string[];
  /** The likeliest reason why nothing moves, when nothing does. */
  readonly likely?: string;
}

export interface FrameStep {
  readonly name: string;
  readonly state: 'waiting' | 'running' | 'done' | 'failed';
  readonly note: string;
  /** On a pipe the note is repeated only when this changes. The note itself when left out. */
  readonly key?: string;
  /** How long it took, or takes so far. */
  readonly ms?: number;
  /** What it is made of, while it runs. */
  readonly details: readonly FrameDetail[];
}

export interface FrameDetail {
  readonly name: string;
  readonly text: string;
  /** On a pipe the text is repeated only when this changes. The text itself when left out. */
  readonly key?: string;
}

export interface FrameMember {
  readonly name: string;
  readonly state: 'voter' | 'joining' | 'absent';
}

export interface FrameLine {
  /** As it is shown: one line, without control characters. */
  readonly text: string;
  readonly color?: TerminalColor;
}

export interface FrameStyle {
  readonly columns: number;
  readonly rows: number;
  readonly hasColors: boolean;
}

const widest = 80;
const nameWidth = 18;
const signs = { waiting: ' ', running: '▸', done: '✓', failed: '✗' } as const;
const colors = { waiting: 'dim', running: 'cyan', done: 'green', failed: 'red' } as const;
const memberSigns = { voter: '●', joining: '◌', absent: '·' } as const;

export function frameLines(view: FrameView, { columns, rows, hasColors }: FrameStyle): readonly FrameLine[] {
  const width = Math.max(20, Math.min(columns, widest));
  const paint = (text: string, color: TerminalColor): FrameLine => (hasColors ? { text, color } : { text });
  const empty: FrameLine = { text: '' };
  const head: readonly FrameLine[] = [{ text: sides(view.title, clockTime(view.elapsedMs), width) }, empty];
  const foot: readonly FrameLine[] = [
    ...(view.members.length === 0 ? [] : [empty, { text: memberLine(view.members, width) }]),
    ...labelled('held', view.held ?? [], width).map((line) => paint(line, 'cyan')),
    ...labelled('likely', view.likely === undefined ? [] : [view.likely], width).map((line) => paint(line, 'yellow')),
  ];
  // The cursor rests on the last row, which the frame must not use.
  const steps = fitted(view.steps, rows - 1 - head.length - foot.length).flatMap((step) => {
    const time = step.ms === undefined || step.state === 'waiting' ? '' : seconds(step.ms);
    const title = `${signs[step.state]} ${step.name.padEnd(nameWidth)}${step.note}`.trimEnd();
    const line = paint(`  ${sides(title, time, width - 2)}`, colors[step.state]);
    if (step.state !== 'running') return [line];
    return [
      line,
      ...step.details.map(({ name, text }) => ({ text: cut(`      ${name.padEnd(nameWidth - 2)}${text}`, width) })),
    ];
  });
  return [...head, ...steps, ...foot];
}

/**
 * The steps that fit into this many lines. First the steps that have not begun are left out, then the oldest that are
 * done, at last machines. A frame that is higher than the screen could not be removed again.
 */
function fitted(steps: readonly FrameStep[], lines: number): readonly FrameStep[] {
  const heightOf = (list: readonly FrameStep[]): number =>
    list.reduce((sum, { state, details }) => sum + 1 + (state === 'running' ? details.length : 0), 0);
  let shown = steps;
  for (const state of ['waiting', 'done'] as const) {
    while (heightOf(shown) > lines) {
      const index =
        state === 'waiting'
          ? shown.findLastIndex((step) => step.state === state)
          : shown.findIndex((step) => step.state === state);
      if (index < 0) break;
      shown = shown.toSpliced(index, 1);
    }
  }
  const excess = heightOf(shown) - Math.max(lines, 1);
  if (excess <= 0) return shown;
  return shown.map((step) =>
    step.details.length === 0 ? step : { ...step, details: withoutLast(step.details, excess + 1) },
  );
}

function withoutLast(details: FrameStep['details'], count: number): FrameStep['details'] {
  const left = details.slice(0, Math.max(0, details.length - count));
  return [...left, { name: '…', text: `and ${details.length - left.length} more machines` }];
}

const indent = ' '.repeat(10);

function labelled(label: string, texts: readonly string[], width: number): readonly string[] {
  const lines = texts.map((text, index) => `${index === 0 ? `  ${label.padEnd(6)}  ` : indent}${text}`);
  return lines.length === 0 ? [] : ['', ...lines.flatMap((line) => wrapped(line, width))];
}

/** Broken at spaces; further lines are indented below the words of the first. */
function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (let rest = shownLine(text); rest !== ''; ) {
    if (rest.length <= width) return [...lines, rest];
    const space = rest.lastIndexOf(' ', width);
    const end = space > indent.length ? space : width;
    lines.push(rest.slice(0, end));
    rest = `${indent}${rest.slice(end).trimStart()}`;
  }
  return lines;
}

function memberLine(members: readonly FrameMember[], width: number): string {
  const voters = members.filter(({ state }) => state === 'voter').length;
  const list = members.map(({ name, state }) => `${memberSigns[state]} ${name}`).join('  ');
  const quorum = voters === 0 ? '' : `quorum ${Math.floor(voters / 2) + 1} of ${voters}`;
  const left = `  etcd  ${list}`;
  // The names of the voters are more important than the quorum.
  return left.length + 1 + quorum.length <= width ? sides(left, quorum, width) : cut(left, width);
}

/** The lines for a pipe when one view follows another: one per step and detail that changed. */
export function changedLines(before: FrameView | undefined, after: FrameView): readonly string[] {
  const lines = after.steps.flatMap((step) => {
    const old = before?.steps.find(({ name }) => name === step.name);
    if (step.state === 'waiting') return [];
    const isNew = old?.state !== step.state || (old.key ?? old.note) !== (step.key ?? step.note);
    const time = step.state === 'running' || step.ms === undefined ? '' : `  ${seconds(step.ms)}`;
    const head = isNew ? [`${signs[step.state]} ${step.name}${step.note === '' ? '' : `: ${step.note}`}${time}`] : [];
    if (step.state !== 'running') return head;
    const fresh = step.details.filter(({ name, text, key }) => {
      const told = old?.details.find((one) => one.name === name);
      return told === undefined || (told.key ?? told.text) !== (key ?? text);
    });
    return [...head, ...fresh.map(({ name, text }) => `    ${name}: ${text}`)];
  });
  const members = memberText(after);
  const held = after.held?.join(' ');
  const isNewLikely = after.likely !== undefined && after.likely !== before?.likely;
  return [
    ...lines,
    ...(members === '' || members === memberText(before) ? [] : [`  etcd ${members}`]),
    ...(held === undefined || held === before?.held?.join(' ') ? [] : [`‖ ${held}`]),
    ...(isNewLikely ? [`! nothing moves; likely: ${after.likely}`] : []),
  ].map(shownLine);
}

function memberText(view: FrameView | undefined): string {
  return (view?.members ?? []).map(({ name, state }) => `${memberSigns[state]} ${name}`).join('  ');
}

/** Both texts at the two ends of a line; if they do not fit, the left one is cut. */
function sides(left: string, right: string, width: number): string {
  if (right === '') return cut(left, width);
  const space = width - right.length - 1;
  return `${cut(left, space).padEnd(space)} ${right}`;
}

/** What is cut is what is shown: an escape is longer than the character that it stands for. */
function cut(text: string, width: number): string {
  const shown = shownLine(text);
  return shown.length <= width ? shown : `${shown.slice(0, Math.max(0, width - 1))}…`;
}

/** `12.3 s`, and from ten minutes on `12:03 min`: tenths of a second are noise there. */
export function seconds(ms: number): string {
  if (ms < 600_000) return `${(ms / 1000).toFixed(1)} s`;
  const whole = Math.floor(ms / 1000);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')} min`;
}

/** `0:11.4`, `12:03.0`. */
export function clockTime(ms: number): string {
  const tenths = Math.floor(ms / 100);
  const minutes = Math.floor(tenths / 600);
  const rest = tenths % 600;
  return `${minutes}:${String(Math.floor(rest / 10)).padStart(2, '0')}.${rest % 10}`;
}
