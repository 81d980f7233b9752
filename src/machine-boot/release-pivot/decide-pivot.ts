// Whether the machine goes on with the release that it booted or with the one that its config names. Pure.
import { digestOfReference } from '../../contract/bootkube-environment.ts';

export interface PivotFacts {
  /** RELEASE_IMAGE of the config; undefined when the config names no release. */
  readonly named: string | undefined;
  /** The image of the release whose programs are on the machine. */
  readonly booted: string | undefined;
}

export type PivotDecision =
  | { readonly kind: 'stay'; readonly because: string }
  | { readonly kind: 'pivot'; readonly image: string; readonly digest: string }
  | { readonly kind: 'refuse'; readonly image: string };

export function decidePivot({ named, booted }: PivotFacts): PivotDecision {
  if (named === undefined || named === '') return { kind: 'stay', because: 'the config names no release' };
  const digest = digestOfReference(named);
  // A tag may mean another release tomorrow, so nothing could be verified by it.
  if (digest === undefined) return { kind: 'refuse', image: named };
  if (booted !== undefined && digestOfReference(booted) === digest) {
    return { kind: 'stay', because: `the machine runs the release that its config names, ${digest}` };
  }
  return { kind: 'pivot', image: named, digest };
}
