// The name that the user probably meant.
import { distance } from 'fastest-levenshtein';

/** The closest of `names`, if it is close enough to be worth suggesting. */
export function nearestName(word: string, names: Iterable<string>): string | undefined {
  let best: { readonly name: string; readonly cost: number } | undefined;
  for (const name of names) {
    const cost = distance(word.toLowerCase(), name.toLowerCase());
    if (best === undefined || cost < best.cost) best = { name, cost };
  }
  return best !== undefined && best.cost <= Math.max(2, Math.floor(word.length / 3)) ? best.name : undefined;
}
