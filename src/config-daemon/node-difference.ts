// How one path on the disk differs from what a config wants there, in words that the Node shows. Contents are compared
// and never shown.
import type { FileFacts, Files } from '../host/files.ts';
import { isOwnedBy, type OwnerOf } from './owners.ts';
import { maskTarget, type WantedNode } from './wanted-state.ts';

/** Undefined when it is as it should be. */
export async function compareNode(files: Files, node: WantedNode, ownerOf: OwnerOf): Promise<string | undefined> {
  const { path } = node;
  const facts = await files.facts(path);
  if (node.kind === 'no mask') {
    const isMasked = facts?.kind === 'link' && (await files.readLink(path)) === maskTarget;
    return isMasked ? `${path} masks its unit, and should not` : undefined;
  }
  const kind = node.kind === 'hard link' ? 'file' : node.kind;
  if (facts === undefined) return `${kind} ${path} is missing`;
  if (facts.kind !== kind)
    return `${path} is a ${facts.kind === 'other' ? 'special file' : facts.kind}, should be a ${kind}`;
  if (node.kind === 'hard link') return undefined;
  if (node.kind === 'link') return compareTarget(node, await files.readLink(path));
  return (await compareRights(node, facts, ownerOf)) ?? (await compareContents(files, node));
}

function compareTarget(
  { path, target }: { readonly path: string; readonly target: string },
  found: string,
): string | undefined {
  return found === target ? undefined : `target mismatch for link ${path}: ${found}, should be ${target}`;
}

type WithRights = Extract<WantedNode, { kind: 'file' | 'folder' }>;

async function compareRights(node: WithRights, facts: FileFacts, ownerOf: OwnerOf): Promise<string | undefined> {
  const { kind, path, mode } = node;
  if (facts.mode !== mode) return `mode mismatch for ${kind} ${path}: ${octal(facts.mode)}, should be ${octal(mode)}`;
  const owner = ownerOf(node);
  if (isOwnedBy(facts, owner)) return undefined;
  const found = `${facts.uid}:${facts.gid}`;
  return `owner mismatch for ${kind} ${path}: ${found}, should be ${owner.uid}:${owner.gid}`;
}

async function compareContents(files: Files, node: WithRights): Promise<string | undefined> {
  if (node.kind === 'folder' || 'elsewhere' in node.contents) return undefined;
  const found = await files.readIfPresent(node.path);
  const isSame = found !== undefined && Buffer.from(node.contents.bytes).equals(found);
  return isSame ? undefined : `content mismatch for file ${node.path}`;
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0');
}
