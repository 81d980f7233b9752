// The two program names that units and pods written for the original call, and the verbs that they stand for.
import { torcxPrograms } from '../contract/machine-paths.ts';

export const programNames: Readonly<Record<string, readonly string[]>> = {
  [torcxPrograms.bootstrap]: ['torcx', 'bootstrap'],
  [torcxPrograms.hookPre]: ['torcx', 'hook-pre'],
};

const verbs = [...Object.values(programNames), ['explain', 'torcx']];
const booleanFlags = [
  '--upgrade-os',
  '--torcx-skip-setup',
  '--no-verify-signatures',
  '--strict-key-expiry',
  '--require-bound-lists',
  '--require-next-version',
  '--dry-run',
];

/**
 * The arguments for the parser. A call by one of the old names gets the words of its verb, and bare boolean flags of
 * the torcx verbs get the value `true`. A bare flag never takes the next word: in `--upgrade-os false` the word is
 * refused, while Go would ignore it and upgrade.
 */
export function torcxArguments(calledAs: string, args: readonly string[]): readonly string[] {
  const name = calledAs.slice(calledAs.lastIndexOf('/') + 1);
  const argv = [...(programNames[name] ?? []), ...args];
  const words = argv.filter((word) => !word.startsWith('-'));
  const isTorcx = verbs.some((verb) => verb.every((word, index) => words[index] === word));
  return isTorcx ? argv.map((word) => (booleanFlags.includes(word) ? `${word}=true` : word)) : argv;
}
