// Files, directories and links, from few enough places that they meet.
import * as fc from 'fast-check';
import type { Odds } from './odds.ts';
import { flag, object } from './odds.ts';

const folders = ['/a', '/b', '/etc', '/opt/x'];
const places = folders.flatMap((folder) => ['', '/f', '/g', '/h', '/deep/i'].map((name) => `${folder}${name}`));
const unitPlaces = ['/etc/systemd/system/app.service', '/etc/systemd/system/app.service.d/10.conf'];

interface Node {
  readonly kind: string;
  readonly item: { readonly path: string };
}

export interface Parts {
  readonly resource: fc.Arbitrary<unknown>;
  readonly source: fc.Arbitrary<unknown>;
}

export function paths({ pick, allowBad }: Odds): fc.Arbitrary<unknown> {
  return pick(allowBad ? [...places, ...unitPlaces] : places, ['', 'a', '/a/', '/a//b', '/a/../b', '/']);
}

export function files(odds: Odds, { resource, source }: Parts): fc.Arbitrary<object> {
  const { allowBad, either, pick } = odds;
  const path = paths(odds);
  const owner = either(
    fc.oneof(object({ id: fc.nat(2000) }), object({ name: fc.constantFrom('core', '') })),
    object({ id: fc.nat(9), name: fc.constant('x') }),
  );
  const owners = { user: owner, group: owner };
  const mode = pick([0, 0o644, 0o600, 0o755], [0o4755, 0o1777, -1, 0o10000]);
  const directory = object({ path }, { ...owners, overwrite: flag, mode });
  const file = fc.oneof(
    object({ path, contents: object({ source }) }, { ...owners, overwrite: flag, mode }),
    object(
      { path },
      {
        ...owners,
        contents: resource,
        append: fc.array(resource, { maxLength: 2 }),
        mode,
        overwrite: either(fc.constant(false), flag),
      },
    ),
  );
  const target = pick(['/b/f', '../x', 'g', '/etc/deep'], ['', '/a', '/b', '../g']);
  const linkOptions = { hard: flag, overwrite: flag, ...(allowBad ? owners : {}) };
  // Before 3.3 a link needed no target.
  const link = fc.oneof(
    { weight: 9, arbitrary: object({ path, target }, linkOptions) },
    { weight: 1, arbitrary: object({ path }, linkOptions) },
  );

  const node = fc.oneof(
    directory.map((item) => ({ kind: 'directories', item })),
    file.map((item) => ({ kind: 'files', item })),
    link.map((item) => ({ kind: 'links', item })),
  ) as fc.Arbitrary<Node>;
  const distinct = fc.uniqueArray(node, { maxLength: 6, selector: ({ item }) => item.path });
  return either(
    distinct.map((nodes) => listsOf(allowBad ? nodes : withoutWhatLiesBelowLinks(nodes))),
    object(
      {},
      {
        directories: fc.array(directory, { maxLength: 2 }),
        files: fc.array(file, { maxLength: 2 }),
        links: fc.array(link, { maxLength: 3 }),
      },
    ),
  ) as fc.Arbitrary<object>;
}

function withoutWhatLiesBelowLinks(nodes: readonly Node[]): Node[] {
  const links = nodes.filter(({ kind }) => kind === 'links').map(({ item }) => `${item.path}/`);
  return nodes.filter(({ item }) => !links.some((link) => item.path.startsWith(link)));
}

function listsOf(nodes: readonly Node[]): object {
  const lists = ['directories', 'files', 'links'].map((kind) => [
    kind,
    nodes.filter((node) => node.kind === kind).map(({ item }) => item),
  ]);
  return Object.fromEntries(lists) as object;
}
