// Asset files as a person can review them in a diff: data URLs decoded, certificates as what they say, keys by what they
// are. Keys come from a seed and so do not change; signatures do, by nature, and are left out.
import { createPublicKey, X509Certificate } from 'node:crypto';
import { decodeDataUrl } from '../../src/ignition/data-url.ts';
import { digestOf } from '../../src/workflow/digest.ts';
import { readCertificate } from '../../src/pki/certificate.ts';
import { childrenOf, readDer, sequenceOf } from '../../src/pki/der.ts';
import { readExtensions, readKeyUsages } from '../../src/pki/extensions.ts';
import { extensionOids } from '../../src/pki/oids.ts';

export function readable(path: string, text: string): string {
  if (path.endsWith('.ign')) return readableIgnition(text);
  if (path.endsWith('.json')) return text;
  return readableText(text);
}

function readableIgnition(text: string): string {
  const withUrls = JSON.parse(text, (_key, value: unknown) => {
    if (typeof value !== 'string' || !value.startsWith('data:')) return value;
    const decoded = decodeDataUrl(value);
    return decoded.status === 'decoded' ? readableText(Buffer.from(decoded.url.bytes).toString('utf8')).split('\n') : value;
  }) as unknown;
  return `${JSON.stringify(withUrls, null, 2)}\n`;
}

function readableText(text: string): string {
  return text
    .replaceAll(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g, describeCertificate)
    .replaceAll(/-----BEGIN PRIVATE KEY-----[\s\S]*?-----END PRIVATE KEY-----\n?/g, describeKey)
    .replaceAll(/(certificate-authority-data|client-certificate-data|client-key-data|rootCAData|additionalTrustBundle): (LS0tLS1CRUdJTi\S+)/g, (_all, name: string, value: string) => {
      const inner = readableText(Buffer.from(value, 'base64').toString('utf8'));
      return `${name}: |\n${inner.split('\n').map((line) => `      ${line}`).join('\n')}`;
    });
}

function describeCertificate(pem: string): string {
  // Inside YAML the block is indented.
  const certificate = readCertificate(pem.replaceAll(/\n +/g, '\n'));
  const { subjectText, issuerText, dnsNames, ipAddresses, isCa, extendedKeyUsages } = certificate;
  const lines = {
    subject: subjectText,
    issuer: issuerText,
    valid: `${certificate.notBefore.toISOString()} to ${certificate.notAfter.toISOString()}`,
    names: [...dnsNames, ...ipAddresses].join(', '),
    use: [...(isCa ? ['CA'] : []), ...keyUsagesOf(certificate.pem), ...extendedKeyUsages].join(', '),
    key: digestOf(certificate.publicPem).slice(0, 16),
  };
  return Object.entries(lines).map(([name, value]) => `<certificate ${name}: ${value}>`).join('\n');
}

/** Node's X509Certificate does not give them. */
function keyUsagesOf(pem: string): readonly string[] {
  const [body] = sequenceOf(readDer(new X509Certificate(pem).raw), 'certificate');
  const explicit = sequenceOf(body, 'tbsCertificate').find(({ tag }) => tag === 0xa3);
  const extensions = explicit === undefined ? [] : readExtensions(childrenOf(explicit)[0]);
  return extensions.filter(({ oid }) => oid === extensionOids.keyUsage).flatMap(({ value }) => readKeyUsages(value));
}

function describeKey(pem: string): string {
  const publicPem = createPublicKey(pem).export({ type: 'spki', format: 'pem' }).toString();
  return `<private key ${digestOf(publicPem).slice(0, 16)}>`;
}
