// Lines of a unit that systemd cannot read. Ignition accepts a unit whose brackets match; systemd then skips such lines
// and may start something else than was meant, so each is a mistake here. Directive names are not checked: they depend
// on the machine's version of systemd.

const sectionLine = /^\[([A-Za-z][A-Za-z0-9-]*|X-[^\]]*)\]$/;

export interface UnitFindings {
  /** Lines that systemd cannot read, one sentence each. */
  readonly mistakes: readonly string[];
  /** What a whole unit needs and this text does not have; a drop-in may still bring it. */
  readonly missing: readonly string[];
}

/** Empty contents (a mask, a drop-in to delete) are fine. */
export function unitFindings(name: string, contents: string): UnitFindings {
  if (contents === '') return { mistakes: [], missing: [] };
  const mistakes: string[] = [];
  const sections = new Map<string, Set<string>>();
  let directives: Set<string> | undefined;
  for (const { text, number } of logicalLines(contents)) {
    const section = sectionLine.exec(text)?.[1];
    if (section !== undefined) {
      directives = sections.get(section) ?? new Set();
      sections.set(section, directives);
    } else if (text.startsWith('[')) {
      mistakes.push(`line ${number} is no section header: ${shown(text)}`);
      directives = new Set();
    } else if (!text.includes('=')) {
      mistakes.push(`line ${number} has no "=": ${shown(text)}`);
    } else if (directives === undefined) {
      mistakes.push(`line ${number} stands before the first section: ${shown(text)}`);
    } else {
      directives.add(text.slice(0, text.indexOf('=')).trim());
    }
  }
  if (contents.includes('\0')) mistakes.push('it contains a NUL byte');
  return { mistakes, missing: missingParts(name, sections) };
}

const mainSections: Readonly<Record<string, string>> = {
  automount: 'Automount',
  mount: 'Mount',
  path: 'Path',
  service: 'Service',
  socket: 'Socket',
  swap: 'Swap',
  timer: 'Timer',
};

function missingParts(name: string, sections: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] {
  const kind = name.slice(name.lastIndexOf('.') + 1);
  const main = mainSections[kind];
  if (main === undefined) return [];
  const directives = sections.get(main);
  if (directives === undefined) return [`a .${kind} needs a section [${main}]`];
  if (kind !== 'service') return [];
  const starts = ['ExecStart', 'ExecStop', 'SuccessAction'].some((directive) => directives.has(directive));
  return starts ? [] : ['a .service needs ExecStart=, ExecStop= or SuccessAction='];
}

interface LogicalLine {
  readonly text: string;
  /** Of its first line in the file, from 1. */
  readonly number: number;
}

/** Comments and blank lines are gone, continuation lines are joined; comments inside a continuation are skipped. */
function* logicalLines(contents: string): Generator<LogicalLine> {
  let joined = '';
  let first = 0;
  for (const [index, raw] of contents.split('\n').entries()) {
    const line = raw.trim();
    if (line === '' && joined === '') continue;
    if (line.startsWith('#') || line.startsWith(';')) continue;
    if (joined === '') first = index + 1;
    if (line.endsWith('\\')) {
      joined += `${line.slice(0, -1)} `;
      continue;
    }
    yield { text: (joined + line).trim(), number: first };
    joined = '';
  }
  if (joined !== '') yield { text: joined.trim(), number: first };
}

function shown(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}...` : text);
}
