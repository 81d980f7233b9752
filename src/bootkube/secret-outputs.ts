// Which files of a stage may hold a secret. Decided by name and by content, and in doubt it is one: what is shown of a
// stage ends on screens and in logs.
import { basename } from 'node:path';

const rules: readonly { readonly why: string; readonly path?: RegExp; readonly text?: RegExp }[] = [
  { why: 'a key', path: /\.key$/, text: /-----BEGIN [A-Z ]*PRIVATE KEY-----/ },
  { why: 'a credential', path: /kubeconfig/, text: /^\s*"?(?:client-key-data|token|password)"?: *\S/m },
  { why: 'keys that encrypt Secrets', text: /\bkind"?: *"?EncryptionConfiguration\b/ },
  { why: 'a Secret', text: /\bkind"?: *"?Secret\b/ },
  { why: 'the configuration of machines, in which people may have put secrets', text: /\bkind"?: *"?MachineConfig\b/ },
];

/** Why the content of the file is not shown; undefined if it may be shown. */
export function secrecyOf(path: string, texts: readonly string[]): string | undefined {
  if (/\.(crt|pub)$/.test(path) && !texts.some((text) => text.includes('PRIVATE KEY'))) return undefined;
  const name = basename(path);
  return rules.find((rule) => rule.path?.test(name) === true || texts.some((text) => rule.text?.test(text) === true))
    ?.why;
}
