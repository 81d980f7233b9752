// Text → one YAML document, read defensively: size and nesting are bounded before anything recurses, so that no file
// can make us crash or swell. YAML 1.2, of which JSON is a part.
import { Composer, type CST, type Document, type ErrorCode, LineCounter, Parser } from 'yaml';
import { type FieldPath, mistakesMax, quoted, redacted } from './mistake.ts';

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
  const wrong = [...document.errors, ...document.warnings].slice(0, mistakesMax).map(
    (error): TextMistake => ({
      ...placeAt(error.pos[0]),
      path: [],
      text: shownText(error.pos, text),
      message: syntaxWords[error.code],
    }),
  );
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

/** Our own words: the library's repeat what it read, which may be a secret. */
const syntaxWords: Readonly<Record<ErrorCode, string>> = {
  ALIAS_PROPS: 'an alias with a tag or an anchor',
  BAD_ALIAS: 'an alias or anchor that YAML does not allow',
  BAD_COLLECTION_TYPE: 'a tag that does not fit what follows it',
  BAD_DIRECTIVE: 'a directive (%…) that YAML does not know',
  BAD_DQ_ESCAPE: 'an escape (\\…) that YAML does not know',
  BAD_INDENT: 'not indented like the lines it belongs to',
  BAD_PROP_ORDER: 'a tag or an anchor in the wrong place',
  BAD_SCALAR_START: 'text that begins with this character needs quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a map or list where the name of a field is expected; perhaps a space or quotes are missing',
  BLOCK_IN_FLOW: 'indented lines inside { } or [ ]',
  DUPLICATE_KEY: 'the same field is written a second time',
  IMPOSSIBLE: 'not YAML',
  KEY_OVER_1024_CHARS: 'the name of a field has more than 1024 characters',
  MISSING_CHAR: 'something is missing here: a quote, a bracket, a comma, a colon or a space',
  MULTILINE_IMPLICIT_KEY: 'the name of a field goes on in the next line; perhaps a colon or quotes are missing',
  MULTIPLE_ANCHORS: 'two anchors for one value',
  MULTIPLE_DOCS: 'a second document; an install-config is one',
  MULTIPLE_TAGS: 'two tags for one value',
  NON_STRING_KEY: 'the name of a field must be plain text',
  RESOURCE_EXHAUSTION: 'more than can be read',
  TAB_AS_INDENT: 'a tab; YAML indents with spaces only',
  TAG_RESOLVE_FAILED: 'a tag (!…) that has no meaning here',
  UNEXPECTED_TOKEN: 'this does not belong here; perhaps quotes, a bracket or a space are missing before it',
};

/**
 * What stands at the mistake. In a file that cannot be read nobody knows which text belongs to which field, so nothing
 * is repeated from one that may hold a secret.
 */
function shownText([from, to]: readonly [number, number], text: string): string {
  if (/pullSecret|proxy|auth|private key/i.test(text)) return redacted;
  return quoted(text.slice(from, Math.max(to, from + 1)).split('\n', 1)[0] ?? '');
}
