// Which files of a stage may hold a secret. Decided by name and by content, and in doubt it is one: what is shown of a
// stage ends on screens and in logs.
import { basename } from 'node:path';

interface SecrecyRule {
  readonly why: string;
  readonly path?: RegExp;
  readonly text?: RegExp;
  /** Of an object somewhere in the text. */
  readonly kind?: RegExp;
}

const rules: readonly SecrecyRule[] = [
  { why: 'a key', path: /\.key$/, text: /-----BEGIN [A-Z ]*PRIVATE KEY-----/ },
  { why: 'a credential', path: /kubeconfig/, text: /^\s*"?(?:client-key-data|token|password)"?: *\S/m },
  { why: 'keys that encrypt Secrets', kind: /\bkind"?: *"?EncryptionConfiguration\b/ },
  { why: 'a Secret', kind: /\bkind"?: *"?Secret\b/ },
  { why: 'the configuration of machines, in which people may have put secrets', kind: /\bkind"?: *"?MachineConfig\b/ },
];

/** Documents, YAML or indented JSON, that name the kind of other objects and hold none. */
const namesKinds = /^(?:kind: | {2}"kind": ")(?:CustomResourceDefinition|MachineConfigPool)(?:$|",$)/m;

/** Why the content of the file is not shown; undefined if it may be shown. */
export function secrecyOf(path: string, texts: readonly string[]): string | undefined {
  if (/\.(crt|pub)$/.test(path) && !texts.some((text) => text.includes('PRIVATE KEY'))) return undefined;
  const name = basename(path);
  const objects = texts.flatMap((text) => text.split(/^---$/m)).filter((document) => !namesKinds.test(document));
  const applies = ({ path: named, text, kind }: SecrecyRule): boolean =>
    named?.test(name) === true ||
    texts.some((each) => text?.test(each) === true) ||
    objects.some((each) => kind?.test(each) === true);
  return rules.find(applies)?.why;
}
