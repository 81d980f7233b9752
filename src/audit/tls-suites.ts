// Which cipher suites are strong: those with forward secrecy and authenticated encryption. TLS 1.3 has no others.

const strongSuite = /^TLS_(?:ECDHE_(?:ECDSA|RSA)_WITH_)?(?:AES_(?:128|256)_GCM|CHACHA20_POLY1305)(?:_SHA(?:256|384))?$/;

export interface TlsSettings {
  readonly minVersion: string | undefined;
  readonly suites: readonly string[];
}

/** What is weak about the settings; undefined where nothing is. */
export function weakSuites({ minVersion, suites }: TlsSettings): string | undefined {
  if (minVersion !== undefined && /1\.?3$/.test(minVersion)) return undefined;
  if (minVersion !== undefined && !/1\.?2$/.test(minVersion)) return `the least version is ${minVersion}`;
  // The suites of a program that names none are those of its Go: some of them have no forward secrecy.
  if (suites.length === 0) return 'no cipher suites are named';
  const weak = suites.filter((suite) => !strongSuite.test(suite));
  return weak.length === 0 ? undefined : `weak cipher suites: ${weak.join(', ')}`;
}
