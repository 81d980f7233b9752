// Text → one YAML document, read defensively: size and nesting are bounded before anything recurses, so that no file
// can make us crash or swell. YAML 1.2, of which JSON is a part.
import { Composer, type CST, type Document, LineCounter, Parser, type YAMLError } from 'yaml';
import { type FieldPath, mistakesMax, quoted } from './mistake.ts';
import { secretFields } from './secrets.ts';

export interface Place {
  /** From 1. */
  readonly line: number;
  readonly column: number;
}

/** A mistake in the text itself, before any field has a meaning. */
export interface TextMistake extends Place {
  readonly path: FieldPath;
  readonly text: string;
  readonly message: string;
  readonly allowed?: string;
}

export type YamlText =
  | { readonly status: 'read'; readonly document: Document.Parsed; readonly placeAt: (offset: number) => Place }
  | { readonly status: 'unreadable'; readonly mistakes: readonly TextMistake[] };

export const sizeMaxBytes = 1024 * 1024;
export const depthMax = 64;
export const fileStart: Place = { line: 1, column: 1 };

export function readYamlText(text: string): YamlText {
  const bytes = Buffer.byteLength(text);
  if (bytes > sizeMaxBytes) {
    return unreadable({
      ...fileStart,
      path: [],
      text: '',
      message: `the file has ${bytes} bytes`,
      allowed: 'at most 1 MiB',
    });
  }
  const lines = new LineCounter();
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return line === 0 ? fileStart : { line, column: col };
  };
  const tokens = [...new Parser(lines.addNewLine).parse(text)];
  const deep = tokens.map(firstTooDeep).find((offset) => offset !== undefined);
  if (deep !== undefined) {
    return unreadable({
      ...placeAt(deep),
      path: [],
      text: '',
      message: `fields are nested more than ${depthMax} deep`,
    });
  }
  // Repeated keys are found in yaml-source.ts, in linear time.
  const composer = new Composer({ prettyErrors: false, uniqueKeys: false, version: '1.2' });
  const [document, second] = [...composer.compose(tokens, true, text.length)];
  if (document === undefined) throw new Error('a YAML stream without a document'); // forceDoc above makes one
  const wrong = [...document.errors, ...document.warnings].slice(0, mistakesMax).map((error): TextMistake => {
    const place = placeAt(error.pos[0]);
    return { ...place, path: [], text: shownText(error.pos, text, place.line), message: syntaxMessage(error) };
  });
  if (second !== undefined) {
    const message = 'a second document begins here; an install-config is one document';
    wrong.push({ ...placeAt(second.range[0]), path: [], text: '---', message });
  }
  return wrong.length > 0 ? unreadable(...wrong) : { status: 'read', document, placeAt };
}

function unreadable(...mistakes: readonly TextMistake[]): YamlText {
  return { status: 'unreadable', mistakes };
}

/** Where the tree of tokens first exceeds the limit. A loop, because the input may nest deeper than the stack. */
function firstTooDeep(root: CST.Token): number | undefined {
  const open: { readonly token: CST.Token; readonly depth: number }[] = [{ token: root, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { token, depth } = next;
    if (depth > depthMax) return token.offset;
    for (const child of childTokens(token)) open.push({ token: child, depth: depth + 1 });
  }
  return undefined;
}

function childTokens(token: CST.Token): readonly CST.Token[] {
  if (token.type === 'document') return token.value === undefined ? [] : [token.value];
  if (!('items' in token)) return [];
  return token.items.flatMap(({ key, value }) => [key ?? [], value ?? []].flat());
}

const syntaxWords: Readonly<Record<string, string | undefined>> = {
  TAB_AS_INDENT: 'a tab; YAML indents with spaces only',
  TAG_RESOLVE_FAILED: 'a tag (!…) that has no meaning here',
};

function syntaxMessage({ code, message }: YAMLError): string {
  return syntaxWords[code] ?? `not YAML: ${message.replace(/\.$/, '')}`;
}

/** What stands there; nothing is repeated from a line that belongs to a secret field. */
function shownText([from, to]: readonly [number, number], text: string, line: number): string {
  const above = text.split('\n').slice(0, line).reverse();
  const field = above.map((row) => /^[{\s]*["']?([\w$]+)["']?\s*:/.exec(row)?.[1]).find((name) => name !== undefined);
  if (secretFields.some((path) => path.includes(field ?? ''))) return '[redacted]';
  return quoted(text.slice(from, Math.max(to, from + 1)).split('\n', 1)[0] ?? '');
}
