// PEM (RFC 7468): base64 between two dashed lines, the form of keys and certificates in files and messages.

export interface PemBlock {
  readonly label: string;
  readonly der: Uint8Array;
}

export function pemOf(label: string, der: Uint8Array): string {
  const lines = Buffer.from(der)
    .toString('base64')
    .match(/.{1,64}/g);
  return `-----BEGIN ${label}-----\n${(lines ?? []).join('\n')}\n-----END ${label}-----\n`;
}

/** Every block of `text` in order; text between blocks is comment (RFC 7468 §5.2). Undefined when one is broken. */
export function pemBlocks(text: string): PemBlock[] | undefined {
  const found = [...text.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----\s([A-Za-z0-9+/=\s]*)-----END \1-----/g)];
  const begun = text.match(/-----BEGIN /g)?.length ?? 0;
  if (found.length !== begun) return undefined;
  const blocks: PemBlock[] = [];
  for (const [, label = '', body = ''] of found) {
    const base64 = body.replaceAll(/\s/g, '');
    const der = Buffer.from(base64, 'base64');
    if (der.toString('base64') !== base64) return undefined;
    blocks.push({ label, der: new Uint8Array(der) });
  }
  return blocks;
}
