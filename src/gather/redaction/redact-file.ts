// The only door into a bundle: every file passes it. Files of JSON and YAML are filtered as objects and stay readable
// by programs; what cannot be parsed, and all else, is filtered as text.
import { parseAllDocuments } from 'yaml';
import { jsonIfValid } from '../../host/json-if-valid.ts';
import { toYaml } from '../../kubernetes/yaml.ts';
import { redactObject } from './redact-object.ts';
import { redactAnywhere, redactText } from './redact-text.ts';

export function redactFile(path: string, content: string): string {
  if (path.endsWith('.json')) return redactJson(content);
  if (/\.ya?ml$/.test(path)) return redactYaml(content);
  // Pages and pictures are made here, from what was filtered already.
  return /\.(html|svg)$/.test(path) ? redactAnywhere(content) : redactText(content);
}

function redactJson(content: string): string {
  const parsed = jsonIfValid(content);
  return parsed === undefined
    ? redactText(content)
    : redactAnywhere(`${JSON.stringify(redactObject(parsed), null, 1)}\n`);
}

function redactYaml(content: string): string {
  const documents = parseAllDocuments(content);
  if (!Array.isArray(documents)) return content;
  if (documents.some(({ errors }) => errors.length > 0)) return redactText(content);
  const values = documents.map((document) => document.toJS() as unknown);
  const filtered = values.map(redactObject);
  const isSame = filtered.every((value, index) => JSON.stringify(value) === JSON.stringify(values[index]));
  return redactAnywhere(isSame ? content : filtered.map(toYaml).join('---\n'));
}
