// The two names under which units and pods of the original call this program, and what they mean here.
export const programNames: Readonly<Record<string, readonly string[]>> = {
  'tectonic-torcx-bootstrap': ['torcx', 'bootstrap'],
  'tectonic-torcx-hook-pre': ['torcx', 'hook-pre'],
};

const verbs = [...Object.values(programNames), ['explain', 'torcx']];
const booleanFlags = [
  '--upgrade-os',
  '--torcx-skip-setup',
  '--no-verify-signatures',
  '--strict-key-expiry',
  '--require-next-version',
  '--dry-run',
];

/**
 * The arguments for the parser: the verb's words where the program was called by one of its old names, and for the
 * torcx verbs every bare boolean flag with its value. A bare flag never takes the next word: `--upgrade-os false` is a
 * flag and a word too many, which is refused, where Go's reading would quietly upgrade.
 */
export function torcxArguments(calledAs: string, args: readonly string[]): readonly string[] {
  const name = calledAs.slice(calledAs.lastIndexOf('/') + 1);
  const argv = [...(programNames[name] ?? []), ...args];
  const words = argv.filter((word) => !word.startsWith('-'));
  const isTorcx = verbs.some((verb) => verb.every((word, index) => words[index] === word));
  return isTorcx ? argv.map((word) => (booleanFlags.includes(word) ? `${word}=true` : word)) : argv;
}
