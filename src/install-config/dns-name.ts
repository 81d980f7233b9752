// Names that end up in DNS and in Kubernetes objects: DNS-1123 labels and subdomains (RFC 1123 §2.1, RFC 1035 §2.3.4).
// Each check returns what is wrong with the text, or undefined.
export const dnsSubdomainAllowed =
  "lower-case letters, digits, '-' and '.', each part beginning and ending with a letter or digit";
export const dnsSubdomainPattern = '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$';

const labelMax = 63;
const nameMax = 253;

export function dnsSubdomainMistake(text: string): string | undefined {
  if (text === '') return 'is empty';
  if (text.length > nameMax) return `has ${text.length} characters, a DNS name at most ${nameMax}`;
  for (const label of text.split('.')) {
    const mistake = labelMistake(label);
    if (mistake !== undefined) return mistake;
  }
  return undefined;
}

function labelMistake(label: string): string | undefined {
  if (label === '') return 'has an empty part between dots';
  if (label.length > labelMax) return `has a part of ${label.length} characters, DNS allows ${labelMax}`;
  const foreign = /[^-a-z0-9]/u.exec(label)?.[0];
  if (foreign !== undefined) {
    return /[A-Z]/.test(foreign) ? 'has upper-case letters' : `has a character that DNS names do not have`;
  }
  if (label.startsWith('-')) return "has a part that begins with '-'";
  if (label.endsWith('-')) return "has a part that ends with '-'";
  return undefined;
}

/** A last part of digits alone makes URL parsers read the whole as an IPv4 address. */
export function endsLikeAnAddress(text: string): boolean {
  return /(^|\.)[0-9]+$/.test(text);
}
