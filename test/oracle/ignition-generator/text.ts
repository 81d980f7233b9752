// The text of a config, and what can happen to JSON before Ignition sees it: null or a value of another type in some
// place, a key nobody knows, a key twice, a key in capitals, a number spelled as no integer is.
import * as fc from 'fast-check';

type Tree =
  | { kind: 'object'; entries: [string, Tree][] }
  | { kind: 'array'; items: Tree[] }
  | { kind: 'leaf'; text: string };

interface Slot {
  readonly replace: (tree: Tree) => void;
  readonly tree: Tree;
  /** The entries of the object that holds the slot, and its place in them. */
  readonly holder?: { readonly entries: [string, Tree][]; readonly index: number };
}

const wrongValues = [
  'null',
  'true',
  '1',
  '"x"',
  '1.5',
  '1e3',
  '[]',
  '{}',
  '[null]',
  '-0',
  '""',
  '9223372036854775808',
  '"\\ud83d"',
];

const mutations = {
  value: (slot: Slot, pick: number) => slot.replace({ kind: 'leaf', text: wrongValues[pick % wrongValues.length]! }),
  null: (slot: Slot) => slot.replace({ kind: 'leaf', text: 'null' }),
  unknown: (slot: Slot) => {
    if (slot.tree.kind === 'object') slot.tree.entries.push(['unheardOf', { kind: 'leaf', text: '[{"a":1}]' }]);
  },
  case: ({ holder }: Slot) => {
    const entry = holder?.entries[holder.index];
    if (entry !== undefined) entry[0] = entry[0].toUpperCase();
  },
  repeat: ({ holder }: Slot, pick: number) => {
    const entry = holder?.entries[holder.index];
    const other = holder?.entries[pick % holder.entries.length];
    if (entry !== undefined && other !== undefined)
      holder?.entries.push([entry[0], pick % 2 === 0 ? entry[1] : other[1]]);
  },
  remove: ({ holder }: Slot) => {
    holder?.entries.splice(holder.index, 1);
  },
} as const;

/** Mostly one mutation or none; the text is laid out over several lines half of the time. */
export function textOf(configs: fc.Arbitrary<object>): fc.Arbitrary<string> {
  const mutation = fc.tuple(
    fc.constantFrom(...(Object.keys(mutations) as (keyof typeof mutations)[])),
    fc.nat(),
    fc.nat(),
  );
  const several = fc.oneof(
    { weight: 5, arbitrary: fc.constant([]) },
    { weight: 4, arbitrary: fc.array(mutation, { minLength: 1, maxLength: 1 }) },
    { weight: 1, arbitrary: fc.array(mutation, { minLength: 2, maxLength: 3 }) },
  );
  return fc.tuple(configs, several, fc.boolean()).map(([config, chosen, spacious]) => {
    let root = treeOf(config);
    for (const [kind, where, pick] of chosen) {
      const slots = slotsOf(root, (tree) => {
        root = tree;
      });
      mutations[kind](slots[where % slots.length]!, pick);
    }
    return print(root, spacious ? '\n' : '');
  });
}

function treeOf(value: unknown): Tree {
  if (Array.isArray(value)) return { kind: 'array', items: value.map(treeOf) };
  if (typeof value !== 'object' || value === null) return { kind: 'leaf', text: JSON.stringify(value) };
  return { kind: 'object', entries: Object.entries(value).map(([key, member]) => [key, treeOf(member)]) };
}

function slotsOf(tree: Tree, replace: (tree: Tree) => void, holder?: Slot['holder']): Slot[] {
  const slot: Slot = holder === undefined ? { tree, replace } : { tree, replace, holder };
  if (tree.kind === 'leaf') return [slot];
  if (tree.kind === 'array') {
    return [slot, ...tree.items.flatMap((item, index) => slotsOf(item, (other) => void (tree.items[index] = other)))];
  }
  const { entries } = tree;
  return [
    slot,
    ...entries.flatMap((entry, index) => slotsOf(entry[1], (other) => void (entry[1] = other), { entries, index })),
  ];
}

function print(tree: Tree, space: string): string {
  if (tree.kind === 'leaf') return tree.text;
  if (tree.kind === 'array') return `[${space}${tree.items.map((item) => print(item, space)).join(`,${space}`)}]`;
  return `{${space}${tree.entries.map(([key, value]) => `${JSON.stringify(key)}:${print(value, space)}`).join(`,${space}`)}}`;
}
