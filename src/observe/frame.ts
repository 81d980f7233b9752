// The screen of a long command as a pure function: what is going on → lines of text. The terminal draws all of them in
// place; a pipe gets the lines that changed. Colours are a second signal only: every state has a sign of its own.
export interface FrameView {
  readonly title: string;
  readonly elapsedMs: number;
  readonly steps: readonly FrameStep[];
  /** Members of etcd; none while there is nothing to show. */
  readonly members: readonly FrameMember[];
}

export interface FrameStep {
  readonly name: string;
  readonly state: 'waiting' | 'running' | 'done' | 'failed';
  readonly note: string;
  /** How long it took, or takes so far. */
  readonly ms?: number;
  /** What it is made of, while it runs. */
  readonly details: readonly { readonly name: string; readonly text: string }[];
}

export interface FrameMember {
  readonly name: string;
  readonly state: 'voter' | 'joining' | 'absent';
}

export interface FrameStyle {
  readonly columns: number;
  readonly hasColors: boolean;
}

const widest = 80;
const nameWidth = 18;
const signs = { waiting: ' ', running: '▸', done: '✓', failed: '✗' } as const;
const colors = { waiting: '2', running: '36', done: '32', failed: '31' } as const;
const memberSigns = { voter: '●', joining: '◌', absent: '·' } as const;

export function frameLines(view: FrameView, { columns, hasColors }: FrameStyle): readonly string[] {
  const width = Math.max(20, Math.min(columns, widest));
  const paint = (text: string, color: string): string => (hasColors ? `\u001B[${color}m${text}\u001B[0m` : text);
  const steps = view.steps.flatMap((step) => {
    const time = step.ms === undefined || step.state === 'waiting' ? '' : seconds(step.ms);
    const head = `${signs[step.state]} ${step.name.padEnd(nameWidth)}${step.note}`;
    const line = `  ${paint(sides(head, time, width - 2), colors[step.state])}`;
    if (step.state !== 'running') return [line];
    return [line, ...step.details.map(({ name, text }) => cut(`      ${name.padEnd(nameWidth - 2)}${text}`, width))];
  });
  return [
    sides(view.title, clockTime(view.elapsedMs), width),
    '',
    ...steps,
    ...(view.members.length === 0 ? [] : ['', memberLine(view.members, width)]),
  ];
}

function memberLine(members: readonly FrameMember[], width: number): string {
  const voters = members.filter(({ state }) => state === 'voter').length;
  const list = members.map(({ name, state }) => `${memberSigns[state]} ${name}`).join('  ');
  const quorum = voters === 0 ? '' : `quorum ${Math.floor(voters / 2) + 1} of ${voters}`;
  return sides(`  etcd  ${list}`, quorum, width);
}

/** What is said on a pipe when one view follows another: a line per step and detail that changed. */
export function changedLines(before: FrameView | undefined, after: FrameView): readonly string[] {
  const lines = after.steps.flatMap((step) => {
    const old = before?.steps.find(({ name }) => name === step.name);
    if (step.state === 'waiting') return [];
    const isNew = old?.state !== step.state || withoutDurations(old.note) !== withoutDurations(step.note);
    const time = step.state === 'running' || step.ms === undefined ? '' : `  ${seconds(step.ms)}`;
    const head = isNew ? [`${signs[step.state]} ${step.name}${step.note === '' ? '' : `: ${step.note}`}${time}`] : [];
    if (step.state !== 'running') return head;
    const fresh = step.details.filter(({ name, text }) => {
      const told = old?.details.find((one) => one.name === name)?.text;
      return told === undefined || withoutDurations(told) !== withoutDurations(text);
    });
    return [...head, ...fresh.map(({ name, text }) => `    ${name}: ${text}`)];
  });
  const members = memberText(after);
  return members === '' || members === memberText(before) ? lines : [...lines, `  etcd ${members}`];
}

/** Words that differ only in how long something takes say the same: `asked 12 s ago` and `asked 13 s ago`. */
export function withoutDurations(text: string): string {
  return text.replaceAll(/\d+(\.\d+)? ?(ms|s|min)\b/g, '');
}

function memberText(view: FrameView | undefined): string {
  return (view?.members ?? []).map(({ name, state }) => `${memberSigns[state]} ${name}`).join('  ');
}

/** Left and right at the two ends of a line; what does not fit is cut from the left part. */
function sides(left: string, right: string, width: number): string {
  if (right === '') return cut(left, width);
  const space = width - right.length - 1;
  return `${cut(left, space).padEnd(space)} ${right}`;
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** `0:11.4`, `12:03.0`. */
export function clockTime(ms: number): string {
  const tenths = Math.floor(ms / 100);
  const minutes = Math.floor(tenths / 600);
  const rest = tenths % 600;
  return `${minutes}:${String(Math.floor(rest / 10)).padStart(2, '0')}.${rest % 10}`;
}
