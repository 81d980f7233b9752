// Text of a foreign file as a message may repeat it: quoted and clipped, so that no control character reaches a
// terminal and no secret reaches a log.

/** The length from which a text is clipped. */
export const clipAt = 60;
export const redacted = '[redacted]';

/** A password in a URL, credentials of a registry, a private key: secret in every field, also in a wrong one. */
const secretShapes = /\/\/[^/\s]*@|["']auths?["']|PRIVATE KEY/;

/** A text, number or truth value of the file as a user would recognise it, safe to print. */
export function quoted(value: string | number | boolean): string {
  if (typeof value === 'string' && secretShapes.test(value)) return redacted;
  const isLong = typeof value === 'string' && value.length > clipAt;
  const text = JSON.stringify(isLong ? `${value.slice(0, clipAt)}…` : value);
  return text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (c) => `\\u${(c.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}
