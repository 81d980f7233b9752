// The filter for text of any kind. It does not know what a text is, so it looks for what secrets look like: private
// keys as PEM, also inside base64, URL encoding or the lines of a journal; tokens; passwords in URLs; values whose
// label says that they are secret; Secrets and kubeconfigs as text. Certificates stay readable.
import { redact } from '../../host/redact.ts';

const removedKey = '[removed: a private key]';
const removedToken = '[removed: a token]';

/** Complete in one line, with its line breaks real, escaped or URL-encoded. */
const keyBlock =
  /-----BEGIN(?:%20|[ +A-Z0-9])*PRIVATE(?:%20|[ +])KEY-----[\s\S]*?-----END(?:%20|[ +A-Z0-9])*PRIVATE(?:%20|[ +])KEY-----/g;
const keyBegin = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/;
const keyEnd = /-----END [A-Z0-9 ]*PRIVATE KEY-----/;
const keyBody = /(?:^|\s)[A-Za-z0-9+/]{16,}={0,2}\s*$/;
/** No key is longer. */
const keyLinesMost = 120;

const patterns: readonly (readonly [RegExp, string])[] = [
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/g, removedToken],
  [/\b(bearer\s+)[\w.~+/=-]{8,}/gi, `$1${removedToken}`],
  [/(:\/\/)[^\s/:@"']+:[^\s/@"']+@/g, '$1[removed]@'],
  [/\b[a-z0-9]{6}\.[a-z0-9]{16}\b/g, removedToken],
  [/\bfl[a-z]_[\w-]{20,}/g, removedToken],
];

/** Whole base64 texts; alphabet of URLs too. */
const encodedText = /[A-Za-z0-9+/_-]{64,}={0,2}/g;
const encodedSecret = /PRIVATE KEY-----|client-key-data|kind"?: ?"?Secret\b|BEGIN OPENSSH/;

/** For every text, also the leaves of parsed objects: what is a secret by itself, wherever it stands. */
export function redactAnywhere(text: string): string {
  const withoutKeys = withoutSplitKeys(text.replaceAll(keyBlock, removedKey));
  const withoutEncoded = withoutKeys.replaceAll(encodedText, (found) =>
    encodedSecret.test(Buffer.from(found, 'base64').toString('latin1')) ? '[removed: an encoded key]' : found,
  );
  return patterns.reduce((at, [pattern, replacement]) => at.replaceAll(pattern, replacement), withoutEncoded);
}

/** For logs and what programs print, where a label before a value may be all that tells a secret. */
export function redactText(text: string): string {
  return redact(withoutObjects(redactAnywhere(text)));
}

/**
 * A key whose lines have something else in front, such as the time and the program in a journal. Of a text that was
 * cut, the first line of a key may be missing: then the lines before its last one are what looks like a key.
 */
function withoutSplitKeys(text: string): string {
  if (!text.includes('PRIVATE KEY-----')) return text;
  const kept: string[] = [];
  let left = 0;
  for (const line of text.split('\n')) {
    if (left > 0) {
      left = keyEnd.test(line) ? 0 : left - 1;
    } else if (keyBegin.test(line)) {
      left = keyLinesMost;
      kept.push(line.replace(/-----BEGIN .*/, removedKey));
    } else if (keyEnd.test(line)) {
      while (keyBody.test(kept.at(-1) ?? '')) kept.pop();
      kept.push(removedKey);
    } else {
      kept.push(line);
    }
  }
  return kept.join('\n');
}

const secretLine = /\bkind: (?:Secret|Config|EncryptionConfiguration)\s*$/;
const objectBegin = /\bapiVersion: \S+\s*$/;
const objectEnd = /(?:^|\s)---\s*$/;
/** How far from its kind an object may reach. */
const objectLinesMost = 200;

/** Secrets, kubeconfigs and keys of encryption that somebody printed: from their apiVersion to the next object. */
function withoutObjects(text: string): string {
  const withoutJson = text.replaceAll(/^.*"kind": ?"Secret".*$/gm, (line) =>
    line.replaceAll(/"(data|stringData)": ?\{[^}]*\}/g, '"$1":{}'),
  );
  if (!/\bkind: (?:Secret|Config|EncryptionConfiguration)\s*$/m.test(withoutJson)) return withoutJson;
  const lines = withoutJson.split('\n');
  const isRemoved = new Set<number>();
  lines.forEach((line, at) => {
    if (!secretLine.test(line)) return;
    const before = lines.slice(Math.max(0, at - objectLinesMost), at).findLastIndex((one) => objectBegin.test(one));
    const first = before === -1 ? at : Math.max(0, at - objectLinesMost) + before;
    for (let place = first; place < Math.min(lines.length, at + objectLinesMost); place += 1) {
      const isNext = objectEnd.test(lines[place] ?? '') || objectBegin.test(lines[place] ?? '');
      if (place > at && isNext) break;
      isRemoved.add(place);
    }
  });
  return lines
    .flatMap((line, at) => {
      if (!isRemoved.has(at)) return [line];
      return isRemoved.has(at - 1) ? [] : ['[removed: an object that holds secrets]'];
    })
    .join('\n');
}
