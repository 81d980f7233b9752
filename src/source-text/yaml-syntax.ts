// Text → one YAML document, read defensively: size and nesting are bounded before anything recurses, so that no file
// can crash this program or fill its memory. YAML 1.2, of which JSON is a part.
import { Composer, type CST, type Document, type ErrorCode, Parser } from 'yaml';
import type { FieldPath } from './field-path.ts';
import { type Mistake, mistakesMax } from './mistake.ts';
import { type Place, positionsIn, textStart } from './place.ts';
import { quoted, redacted } from './quoted-text.ts';

/** A mistake in the text itself, before any field has a meaning. */
export interface TextMistake extends Mistake {
  readonly path: FieldPath;
  readonly text: string;
}

export interface YamlFile {
  /** How messages name the file. */
  readonly file: string;
  readonly text: string;
  /** What the file is, such as "an install-config". */
  readonly kind: string;
  /** A file with such words may hold a secret: where it cannot be read, nothing of it is repeated. */
  readonly secretWords: RegExp;
}

export type YamlText =
  | { readonly status: 'read'; readonly document: Document.Parsed; readonly placeAt: (offset: number) => Place }
  | { readonly status: 'unreadable'; readonly mistakes: readonly TextMistake[] };

const sizeMaxBytes = 1024 * 1024;
const depthMax = 64;

export function readYamlText({ file, text, kind, secretWords }: YamlFile): YamlText {
  const whole = { path: [], text: '' };
  const bytes = Buffer.byteLength(text);
  if (bytes > sizeMaxBytes) {
    const message = `the file has ${bytes} bytes`;
    return unreadable({ file, ...textStart, ...whole, message, allowed: 'at most 1 MiB' });
  }
  const positionAt = positionsIn(text);
  const placeAt = (offset: number): Place => ({ file, ...positionAt(offset) });
  const tokens = [...new Parser().parse(text)];
  const deep = tokens.map(firstTooDeep).find((offset) => offset !== undefined);
  if (deep !== undefined) {
    return unreadable({ ...placeAt(deep), ...whole, message: `fields are nested more than ${depthMax} deep` });
  }
  // Repeated keys are found in strict-yaml.ts, in linear time.
  const composer = new Composer({ prettyErrors: false, uniqueKeys: false, version: '1.2' });
  const [document, second] = [...composer.compose(tokens, true, text.length)];
  if (document === undefined) throw new Error('a YAML stream without a document'); // forceDoc above makes one
  const wrong = [...document.errors, ...document.warnings].slice(0, mistakesMax).map(
    (error): TextMistake => ({
      ...placeAt(error.pos[0]),
      path: [],
      text: secretWords.test(text) ? redacted : textBetween(error.pos, text),
      message: syntaxWords[error.code],
    }),
  );
  if (second !== undefined) {
    const message = `a second document begins here; ${kind} is one document`;
    wrong.push({ ...placeAt(second.range[0]), path: [], text: '---', message });
  }
  return wrong.length > 0 ? unreadable(...wrong) : { status: 'read', document, placeAt };
}

function unreadable(...mistakes: readonly TextMistake[]): YamlText {
  return { status: 'unreadable', mistakes };
}

/** The offset where tokens first nest too deep. A loop, because the input may nest deeper than the stack allows. */
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

/** The library's own messages repeat the text, which may be a secret. */
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
  MULTIPLE_DOCS: 'a second document',
  MULTIPLE_TAGS: 'two tags for one value',
  NON_STRING_KEY: 'the name of a field must be plain text',
  RESOURCE_EXHAUSTION: 'more than can be read',
  TAB_AS_INDENT: 'a tab; YAML indents with spaces only',
  TAG_RESOLVE_FAILED: 'a tag (!…) that has no meaning here',
  UNEXPECTED_TOKEN: 'this does not belong here; perhaps quotes, a bracket or a space are missing before it',
};

function textBetween([from, to]: readonly [number, number], text: string): string {
  return quoted(text.slice(from, Math.max(to, from + 1)).split('\n', 1)[0] ?? '');
}
