// Looks at what a container wrote before anything of it is used: plain files with plain names, not many and not large,
// text that can be read as what its name says. A link could lead anywhere, so there is none.
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { Files } from '../host/files.ts';
import { jsonIfValid } from '../host/json-if-valid.ts';
import type { StageFile } from './render-stage.ts';

export interface OutputProblem {
  readonly path: string;
  readonly reason: string;
}

const filesMax = 2_000;
const bytesMax = 64 * 1024 ** 2;
const plainName = /^[A-Za-z0-9_][A-Za-z0-9._@:+-]*$/;

export async function readRenderedOutput(
  files: Files,
  folder: string,
  refuse: (problem: OutputProblem) => Error,
): Promise<readonly StageFile[]> {
  const read: StageFile[] = [];
  let bytes = 0;
  const visit = async (prefix: string): Promise<void> => {
    for (const name of (await files.list(join(folder, prefix))) ?? []) {
      const path = join(prefix, name);
      if (!plainName.test(name)) throw refuse({ path, reason: 'this is no plain name of a file' });
      const facts = await files.facts(join(folder, path));
      if (facts?.kind === 'folder') await visit(path);
      else if (facts?.kind !== 'file')
        throw refuse({ path, reason: facts?.kind === 'link' ? 'it is a link' : 'it is no file' });
      else {
        bytes += facts.sizeBytes;
        if (bytes > bytesMax) throw refuse({ path, reason: `all files together have more than ${bytesMax} bytes` });
        if (read.length >= filesMax) throw refuse({ path, reason: `there are more than ${filesMax} files` });
        const content = readable(await files.read(join(folder, path)), path, refuse);
        // Whoever reads a file of a stage is root; what others may not read stays so.
        read.push({ path, content, mode: (facts.mode & 0o644) | 0o600 });
      }
    }
  };
  await visit('');
  return read;
}

function readable(content: Uint8Array, path: string, refuse: (problem: OutputProblem) => Error): string {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    throw refuse({ path, reason: 'it is not UTF-8' });
  }
  if (!/\.(ya?ml|json)$/.test(path) || jsonIfValid(text) !== undefined) return text;
  if (path.endsWith('.json')) throw refuse({ path, reason: 'it is not JSON' });
  const documents = parseAllDocuments(text, { version: '1.1' });
  const [mistake] = Array.isArray(documents) ? documents.flatMap(({ errors }) => errors) : [];
  if (mistake !== undefined) throw refuse({ path, reason: mistake.message.split('\n')[0] ?? '' });
  return text;
}
