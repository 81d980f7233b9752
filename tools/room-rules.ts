// The rules that hold the rooms of src/, as values: each takes the sources and returns what breaks it.
// Pure, so that a test can show each rule failing on a deliberate mistake (room-rules.test.ts).
import { dirname, join, normalize } from 'node:path';
import { layers } from './rooms.ts';

export interface SourceFile {
  /** Relative to the project: `src/pki/issue.ts`. */
  readonly path: string;
  readonly text: string;
}

export interface RoomRule {
  readonly name: string;
  readonly why: string;
  /** One line per mistake, beginning with the place. */
  readonly find: (sources: readonly SourceFile[], table: typeof layers) => readonly string[];
}

interface Import {
  readonly from: string;
  readonly to: string;
}

/** `src/pki/issue.ts` → `pki`; undefined for files that lie directly in src/. */
function roomOf(path: string): string | undefined {
  const [, room, file] = path.split('/');
  return file === undefined ? undefined : room;
}

function importsOf({ path, text }: SourceFile): readonly Import[] {
  const found = [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.{1,2}\/[^'\n]+\.ts)'/g)];
  return found.map((match) => ({ from: path, to: normalize(join(dirname(path), match[1] ?? '')) }));
}

/** Imports that leave their room, with both rooms. */
function crossings(sources: readonly SourceFile[]): readonly (Import & { room: string; other: string })[] {
  return sources.flatMap(importsOf).flatMap((edge) => {
    const [room, other] = [roomOf(edge.from), roomOf(edge.to)];
    return room === undefined || other === undefined || room === other ? [] : [{ ...edge, room, other }];
  });
}

const declaration =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|let|class|interface|type|enum) ([A-Za-z0-9_$]+)/gm;
const exportList = /^export (?:type )?\{([^}]*)\}/gm;
const anyDeclaration =
  /^(?:export )?(?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|let|class|interface|type|enum) ([A-Za-z0-9_$]+)/gm;

const names = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].map((match) => match[1] ?? '');

function exportedNames({ text }: SourceFile): readonly string[] {
  const listed = names(text, exportList).flatMap((list) => list.split(','));
  return [...names(text, declaration), ...listed.map((entry) => (entry.split(' as ').at(-1) ?? '').trim())].filter(
    (name) => name !== '',
  );
}

/** Types of TypeScript's library that are no values, so that globalThis does not know them. */
const libraryTypes = [
  'Awaited',
  'Capitalize',
  'Exclude',
  'Extract',
  'Generator',
  'InstanceType',
  'Iterable',
  'Lowercase',
  'NonNullable',
  'Omit',
  'Parameters',
  'Partial',
  'Pick',
  'PropertyKey',
  'Readonly',
  'Record',
  'Required',
  'ReturnType',
  'Uppercase',
];
const builtIns = new Set([...libraryTypes, ...Object.getOwnPropertyNames(globalThis)]);

const uniqueNames: RoomRule = {
  name: 'an exported name is unique in src/',
  why: 'One word for one thing: a reader who finds the name has found its only meaning.',
  find: (sources) => {
    const places = new Map<string, string[]>();
    for (const source of sources) {
      for (const name of exportedNames(source)) places.set(name, [...(places.get(name) ?? []), source.path]);
    }
    return [...places]
      .filter(([, paths]) => paths.length > 1)
      .map(([name, paths]) => `${paths.join(', ')}: all export ${name}`);
  },
};

const noShadowedBuiltIn: RoomRule = {
  name: 'no name of a built-in is declared anew',
  why: 'Pick, Proxy or Map must mean what the language says.',
  find: (sources) =>
    sources.flatMap(({ path, text }) =>
      names(text, anyDeclaration)
        .filter((name) => builtIns.has(name))
        .map((name) => `${path}: declares ${name}, which is a built-in`),
    ),
};

const everyEdgeAllowed: RoomRule = {
  name: 'a room imports only what tools/rooms.ts allows',
  why: 'The table is the map; what it does not show must not exist.',
  find: (sources, table) => [
    ...new Set(
      crossings(sources)
        .filter(({ room, other }) => !(table[room] ?? []).includes(other))
        .map(({ from, to }) => `${from}: imports ${to}, which its row in tools/rooms.ts does not allow`),
    ),
  ],
};

const everyEdgeUsed: RoomRule = {
  name: 'every allowed edge of tools/rooms.ts is used',
  why: 'An edge that nobody uses invites a dependency that nobody decided on.',
  find: (sources, table) => {
    const used = new Set(crossings(sources).map(({ room, other }) => `${room} ${other}`));
    return Object.entries(table).flatMap(([room, others]) =>
      others
        .filter((other) => !used.has(`${room} ${other}`))
        .map((other) => `tools/rooms.ts: ${room} may import ${other}, and nothing there does`),
    );
  },
};

const everyRoomListed: RoomRule = {
  name: 'every folder of src/ has a row in tools/rooms.ts',
  why: 'A new room is a decision; the table is where it is made.',
  find: (sources, table) => {
    const rooms = new Set(sources.map(({ path }) => roomOf(path)).filter((room) => room !== undefined));
    return [
      ...[...rooms].filter((room) => !(room in table)).map((room) => `src/${room}: has no row in tools/rooms.ts`),
      ...Object.keys(table)
        .filter((room) => !rooms.has(room))
        .map((room) => `tools/rooms.ts: ${room} is not a folder of src/`),
    ];
  },
};

const noCycle: RoomRule = {
  name: 'rooms do not import each other in a circle',
  why: 'Rooms that need each other are one room.',
  find: (_sources, table) => {
    const done = new Set<string>();
    const walk = (room: string, way: readonly string[]): readonly string[] => {
      if (way.includes(room)) return [`tools/rooms.ts: ${[...way.slice(way.indexOf(room)), room].join(' → ')}`];
      if (done.has(room)) return [];
      const found = (table[room] ?? []).flatMap((other) => walk(other, [...way, room]));
      done.add(room);
      return found;
    };
    return Object.keys(table).flatMap((room) => walk(room, []));
  },
};

const platformSeam: RoomRule = {
  name: 'only platform/ knows a kind of machine',
  why: 'cluster/, diagnose/, waterfall/ and cli/ work with any platform, through platform/platform.ts.',
  find: (sources) =>
    crossings(sources)
      .filter(({ to }) => to.startsWith('src/platform/') && to.split('/').length > 3)
      .map(({ from, to }) => `${from}: imports ${to}; use the seam, src/platform/platform.ts`),
};

const contractStandsAlone: RoomRule = {
  name: 'contract/ imports errors/ and host/ only',
  why: 'What two programs agree on must not depend on either of them.',
  find: (sources) =>
    crossings(sources)
      .filter(({ room, other }) => room === 'contract' && !['errors', 'host'].includes(other))
      .map(({ from, to }) => `${from}: imports ${to}`),
};

const everyFileHasHeader: RoomRule = {
  name: 'every file begins with a header',
  why: 'The first lines say what the file owns and what must stay true.',
  find: (sources) =>
    sources
      .filter(({ text }) => !text.replace(/^#!.*\n/, '').startsWith('// '))
      .map(({ path }) => `${path}:1: has no header`),
};

const commentWidth = 120;
const narrowComments: RoomRule = {
  name: `no comment line is wider than ${commentWidth} columns`,
  why: 'The formatter wraps code and leaves comments alone.',
  find: (sources) =>
    sources.flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, index) => {
        const isComment = /^\s*(?:\/\/|\/\*|\*)/.test(line);
        return isComment && line.length > commentWidth ? [`${path}:${index + 1}: ${line.length} columns`] : [];
      }),
    ),
};

/** Absolute paths of machines, and the ports that programs of a cluster meet on. */
const sharedLiteral = /'(\/(?:etc|var|run|opt|usr\/local)\/[^'\s$]+)'|\b(6443|22_?623|22_?690|2379|2380|2381)\b/g;

const sharedLiteralsInContract: RoomRule = {
  name: 'a path or port that two rooms use stands in contract/',
  why: 'Typed twice, it is changed once.',
  find: (sources) => {
    const rooms = new Map<string, Map<string, string>>();
    for (const { path, text } of sources) {
      const room = roomOf(path);
      if (room === undefined) continue;
      const code = text.replaceAll(/^\s*(?:\/\/|\/\*|\*).*$/gm, '');
      for (const match of code.matchAll(sharedLiteral)) {
        const literal = (match[1] ?? match[2] ?? '').replace('_', match[1] === undefined ? '' : '_');
        rooms.set(literal, (rooms.get(literal) ?? new Map<string, string>()).set(room, path));
      }
    }
    return [...rooms]
      .filter(([, places]) => places.size > 1)
      .map(([literal, places]) => `${[...places.values()].join(', ')}: ${literal} is typed in each`);
  },
};

export const roomRules: readonly RoomRule[] = [
  everyRoomListed,
  everyEdgeAllowed,
  everyEdgeUsed,
  noCycle,
  platformSeam,
  contractStandsAlone,
  sharedLiteralsInContract,
  uniqueNames,
  noShadowedBuiltIn,
  everyFileHasHeader,
  narrowComments,
];
