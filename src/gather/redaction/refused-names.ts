// Names of files that are never taken, whatever their content: on the machine, and again where its answer is read.

const words = ['secret', 'kubeconfig', 'token', 'password', 'credential'];
const ends = ['.key', '.p12', '.pfx', '.pem'];

/** As patterns of the shell; the first letter of a word may be a capital. */
export const refusedPatterns: readonly string[] = [
  ...words.map((word) => `*[${word.charAt(0)}${word.charAt(0).toUpperCase()}]${word.slice(1)}*`),
  ...ends.map((end) => `*${end}`),
];

/** By the last part of the path. */
export function isRefusedName(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  return words.some((word) => name.includes(word)) || ends.some((end) => name.endsWith(end));
}
