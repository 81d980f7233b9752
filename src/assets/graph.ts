// The graph of assets: order, edges, and its pictures. Pure functions over values.
import type { AnyAsset } from './asset.ts';

/** `targets` and everything they are made from, inputs before what is made from them, each once. */
export function inOrder(targets: readonly AnyAsset[]): readonly AnyAsset[] {
  const done = new Set<AnyAsset>();
  const open = new Set<AnyAsset>();
  const visit = (asset: AnyAsset): void => {
    if (done.has(asset)) return;
    if (open.has(asset)) throw new Error(`the asset ${asset.name} is made from itself`);
    open.add(asset);
    for (const input of inputsOf(asset)) visit(input);
    done.add(asset);
  };
  for (const target of targets) visit(target);
  return [...done];
}

export function inputsOf(asset: AnyAsset): readonly AnyAsset[] {
  return Object.values(asset.inputs);
}

/** The assets that are made from `asset` directly. */
export function readersOf(asset: AnyAsset, all: readonly AnyAsset[]): readonly AnyAsset[] {
  return all.filter((other) => inputsOf(other).includes(asset));
}

export interface GraphData {
  readonly assets: readonly {
    readonly name: string;
    readonly why: string;
    readonly inputs: readonly string[];
    readonly files: readonly string[];
  }[];
  readonly targets: Readonly<Record<string, readonly string[]>>;
}

export function graphData(targets: Readonly<Record<string, readonly AnyAsset[]>>): GraphData {
  const assets = inOrder(Object.values(targets).flat()).map((asset) => ({
    name: asset.name,
    why: asset.why,
    inputs: inputsOf(asset).map((input) => input.name),
    files: asset.outputs,
  }));
  const names = Object.entries(targets).map(([name, list]) => [name, list.map((asset) => asset.name)] as const);
  return { assets, targets: Object.fromEntries(names) };
}

export function toGraphviz(data: GraphData): string {
  const quote = (text: string): string => JSON.stringify(text);
  const nodes = data.assets.map((asset) => `  ${quote(asset.name)} [tooltip=${quote(asset.why)}];`);
  const edges = data.assets.flatMap((asset) =>
    asset.inputs.map((input) => `  ${quote(input)} -> ${quote(asset.name)};`),
  );
  const boxes = Object.entries(data.targets).flatMap(([target, names]) => [
    `  ${quote(`create ${target}`)} [shape=box, style=bold];`,
    ...names.map((name) => `  ${quote(name)} -> ${quote(`create ${target}`)} [style=dashed];`),
  ]);
  return [
    'strict digraph firstlight {',
    '  rankdir=LR;',
    '  node [shape=ellipse, fontname="sans-serif"];',
    ...nodes,
    ...edges,
    ...boxes,
    '}',
    '',
  ].join('\n');
}

export function toMermaid(data: GraphData): string {
  const id = (name: string): string => name.replaceAll(/[^A-Za-z0-9]/g, '_');
  const nodes = data.assets.map((asset) => `  ${id(asset.name)}(["${asset.name}"])`);
  const edges = data.assets.flatMap((asset) => asset.inputs.map((input) => `  ${id(input)} --> ${id(asset.name)}`));
  const boxes = Object.entries(data.targets).flatMap(([target, names]) => [
    `  target_${id(target)}["create ${target}"]`,
    ...names.map((name) => `  ${id(name)} -.-> target_${id(target)}`),
  ]);
  return ['graph LR', ...nodes, ...edges, ...boxes, ''].join('\n');
}
