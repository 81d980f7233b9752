import { expect, test } from 'vitest';
import { type RoomRule, roomRules, type SourceFile } from './room-rules.ts';

const header = '// A header.\n';
const file = (path: string, text = ''): SourceFile => ({ path, text: `${header}${text}` });
const table = { pki: ['host'], host: [] as string[] };
const sound = [file('src/pki/issue.ts', "import { now } from '../host/clock.ts';\n"), file('src/host/clock.ts')];

function ruleAbout(words: string): RoomRule {
  const found = roomRules.find(({ name }) => name.includes(words));
  if (found === undefined) throw new Error(`no rule about ${words}`);
  return found;
}

test('sound rooms break no rule', () => {
  expect(roomRules.flatMap(({ find }) => find(sound, table))).toEqual([]);
});

/** Words of the rule's name, sources with one deliberate mistake, what is said of it. */
type Mistake = readonly [words: string, sources: readonly SourceFile[], said: string, rows?: Record<string, string[]>];
const mistakes: readonly Mistake[] = [
  ['has a row', [...sound, file('src/new-room/a.ts')], 'src/new-room: has no row'],
  ['has a row', sound, 'tools/rooms.ts: gone is not a folder', { ...table, gone: [] }],
  [
    'imports only what',
    [...sound, file('src/host/files.ts', "import { issue } from '../pki/issue.ts';\n")],
    'src/host/files.ts: imports src/pki/issue.ts',
  ],
  [
    'imports only what',
    [...sound, file('src/host/files.ts', "const { issue } = await import('../pki/issue.ts');\n")],
    'src/host/files.ts: imports src/pki/issue.ts',
  ],
  ['edge of tools/rooms.ts is used', [file('src/pki/issue.ts'), file('src/host/clock.ts')], 'pki may import host'],
  ['in a circle', sound, 'pki → host → pki', { pki: ['host'], host: ['pki'] }],
  [
    'knows a kind of machine',
    [file('src/cluster/create.ts', "import { plan } from '../platform/local/plan.ts';\n")],
    'src/cluster/create.ts: imports src/platform/local/plan.ts',
  ],
  [
    'contract/ imports',
    [file('src/contract/ports.ts', "import { issue } from '../pki/issue.ts';\n")],
    'src/contract/ports.ts: imports src/pki/issue.ts',
  ],
  [
    'stands in contract/',
    [file('src/pki/a.ts', "const a = '/etc/kubernetes/pki';\n"), file('src/host/b.ts', "f('/etc/kubernetes/pki');\n")],
    'src/pki/a.ts, src/host/b.ts: /etc/kubernetes/pki',
  ],
  [
    'stands in contract/',
    [file('src/pki/a.ts', 'const port = 22_623;\n'), file('src/host/b.ts', 'f(22623);\n')],
    'src/pki/a.ts, src/host/b.ts: 22623',
  ],
  [
    'name is unique',
    [file('src/pki/a.ts', 'export interface Found {}\n'), file('src/host/b.ts', 'export type Found = string;\n')],
    'src/pki/a.ts, src/host/b.ts: all export Found',
  ],
  [
    'name is unique',
    [file('src/pki/a.ts', 'export async function look() {}\n'), file('src/host/b.ts', 'export { see as look };\n')],
    'src/pki/a.ts, src/host/b.ts: all export look',
  ],
  ['built-in', [file('src/pki/a.ts', 'type Pick = string;\n')], 'src/pki/a.ts: declares Pick'],
  ['built-in', [file('src/pki/a.ts', 'export interface Proxy {}\n')], 'src/pki/a.ts: declares Proxy'],
  ['begins with a header', [{ path: 'src/pki/a.ts', text: "import 'x';\n" }], 'src/pki/a.ts:1'],
  ['wider than 120', [file('src/pki/a.ts', `  // ${'x'.repeat(120)}\n`)], 'src/pki/a.ts:2: 125 columns'],
];

for (const [words, sources, said, rows] of mistakes) {
  test(`the rule "${words}" sees a deliberate mistake: ${said}`, () => {
    const found = ruleAbout(words).find(sources, rows ?? table);
    expect(found.join('\n')).toContain(said);
  });
}

test('every rule is shown failing', () => {
  const shown = new Set(mistakes.map(([words]) => ruleAbout(words)));
  expect(roomRules.filter((rule) => !shown.has(rule)).map(({ name }) => name)).toEqual([]);
});
