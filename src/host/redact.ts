// Removes from a text what must not be in a log: private keys, tokens, passwords, data URLs of keys.
const patterns: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN ([A-Z ]*)PRIVATE KEY-----[\s\S]*?-----END \1PRIVATE KEY-----/g, '[redacted private key]'],
  [/\b[a-z0-9]{6}\.[a-z0-9]{16}\b/g, '[redacted token]'],
  // Quotes may be escaped, as in JSON inside a line of JSON; escaped quotes must stay.
  [
    /\b(authorization|auth|token|password|secret)(\\?"?\s*[:=]\s*\\?"?)(?:bearer |basic )?(?:[^\s",}\\]|\\(?!"))+/gi,
    '$1$2[redacted]',
  ],
  [/\bfl[bjpr]_[A-Za-z0-9_-]{20,}/g, '[redacted token]'],
  // A base64 block long enough to be key material; certificates are PEM and stay readable.
  [/\bbase64,[A-Za-z0-9+/=]{64,}/g, 'base64,[redacted]'],
];

export function redact(text: string): string {
  return patterns.reduce((at, [pattern, replacement]) => at.replace(pattern, replacement), text);
}
