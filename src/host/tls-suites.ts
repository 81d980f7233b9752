// The suites that every server of a cluster accepts in TLS 1.2: forward secrecy and authenticated encryption only. TLS
// 1.3 has nothing else. Go programs and Node know a suite by different names.

interface TlsSuite {
  /** As the standard and Go call it. */
  readonly name: string;
  readonly opensslName: string;
}

export const tlsSuites: readonly TlsSuite[] = [
  { name: 'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256', opensslName: 'ECDHE-ECDSA-AES128-GCM-SHA256' },
  { name: 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', opensslName: 'ECDHE-RSA-AES128-GCM-SHA256' },
  { name: 'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384', opensslName: 'ECDHE-ECDSA-AES256-GCM-SHA384' },
  { name: 'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384', opensslName: 'ECDHE-RSA-AES256-GCM-SHA384' },
  { name: 'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256', opensslName: 'ECDHE-ECDSA-CHACHA20-POLY1305' },
  { name: 'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256', opensslName: 'ECDHE-RSA-CHACHA20-POLY1305' },
];
