// Random install-configs that are valid by construction, for property tests of everything that reads one.
// The construction knows the rules only as far as it must avoid breaking them; the oracle is the parser's verdict.
import fc from 'fast-check';
import { auditLevels, networkPolicyAnswers, podSecurityLevels } from '../../src/contract/security-settings.ts';
import type { Architecture } from '../../src/install-config/architecture.ts';
import type { InstallConfigInput } from '../../src/install-config/schema.ts';

export const someAuthority = `-----BEGIN CERTIFICATE-----
MIIBijCCAS+gAwIBAgIUD37p9TPtjtlT+vcex89qlfGzVbcwCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwOc29tZS1hdXRob3JpdHkwIBcNMjYxMTE1MDUxNjA5WhgPMjEy
NjEwMjIwNTE2MDlaMBkxFzAVBgNVBAMMDnNvbWUtYXV0aG9yaXR5MFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAEQEiwLst70PH5lS+Bpn0MmaitxRrZrqEQBtWfVU9J
uBIyFh+r//Vg869UiSRzhzQzfcPQpLU73JBD/D8gwZdYuaNTMFEwHQYDVR0OBBYE
FDkbMZEXx+3qsyJYAvJ+7gBmLO17MB8GA1UdIwQYMBaAFDkbMZEXx+3qsyJYAvJ+
7gBmLO17MA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSQAwRgIhAPIeCoGk
ovaf8fHJs/La3UGpjH57lRL1WeEN5LJlreO0AiEAwOvKgQu+eXG2Gc1KUBsWrFiR
iqw/RWGTDBxElR/p/B0=
-----END CERTIFICATE-----
`;

/** The machine these configs are meant to be read on. */
export const architecture: Architecture = 'amd64';

const label = (max: number) => fc.stringMatching(new RegExp(`^[a-z0-9]([-a-z0-9]{0,${max - 2}}[a-z0-9])?$`));
/** Includes the words YAML 1.1 takes for something else, which a writer must quote. */
const clusterName = fc.oneof(label(54), fc.constantFrom('on', 'no', 'y', 'null', '0644', '1e3', '123', 'true'));
const domain = fc.tuple(fc.array(label(20), { maxLength: 3 }), fc.constantFrom('test', 'example', 'on', 'no', 'x0'));
const word = fc.stringMatching(/^[a-z]{1,12}$/);

const sshKey = fc
  .tuple(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.stringMatching(/^[ -~]{0,20}$/))
  .map(([key, comment]) => {
    const field = (bytes: Uint8Array | string) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return Buffer.concat([length, Buffer.from(bytes)]);
    };
    const blob = Buffer.concat([field('ssh-ed25519'), field(key)]).toString('base64');
    return `ssh-ed25519 ${blob} ${comment}`.trim();
  });

const networks = fc.record({
  machines: fc.uniqueArray(fc.integer({ min: 0, max: 255 }), { minLength: 1, maxLength: 3 }),
  second: fc.integer({ min: 0, max: 63 }),
  podPrefix: fc.integer({ min: 10, max: 20 }),
  pieceBits: fc.integer({ min: 7, max: 10 }),
  service: fc.integer({ min: 16, max: 31 }),
  servicePrefix: fc.integer({ min: 16, max: 24 }),
});

const proxy = fc.record(
  {
    httpProxy: word.map((host) => `http://${host}.test:3128`),
    httpsProxy: word.map((host) => `https://user:pass@${host}.test`),
    noProxy: fc
      .array(fc.oneof(word, fc.ipV4(), fc.constant('.below.test')), { minLength: 1 })
      .map((all) => all.join(',')),
  },
  { requiredKeys: ['httpProxy'] },
);

const extras = fc.record(
  {
    sshKey: fc.array(sshKey, { minLength: 1, maxLength: 3 }).map((keys) => keys.join('\n')),
    pullSecret: fc
      .dictionary(word, fc.record({ auth: fc.base64String({ minLength: 4 }) }), { minKeys: 1 })
      .map((auths) => JSON.stringify({ auths })),
    proxy,
    additionalTrustBundle: fc.constantFrom(someAuthority, `# two of them\n${someAuthority}${someAuthority}`),
    additionalTrustBundlePolicy: fc.constantFrom('Proxyonly' as const, 'Always' as const),
    security: fc.record(
      {
        auditLog: fc.constantFrom(...auditLevels),
        podSecurity: fc.record(
          { enforce: fc.constantFrom(...podSecurityLevels), warn: fc.constantFrom(...podSecurityLevels) },
          { requiredKeys: [] },
        ),
        seccompDefault: fc.boolean(),
        networkPolicy: fc.constantFrom(...networkPolicyAnswers),
      },
      { requiredKeys: [] },
    ),
    imageDigestSources: fc.array(
      fc.record({
        source: word.map((host) => `${host}.test:5000/team`),
        mirrors: fc.array(
          fc.tuple(word, fc.array(word, { maxLength: 2 })).map((path) => `${path.flat().join('/')}/team`),
        ),
      }),
      { maxLength: 3 },
    ),
    nodeBootstrap: fc.constantFrom('none' as const, 'torcx' as const),
    torcx: fc.record(
      {
        upgradeOS: fc.boolean(),
        manifestURL: fc.constant('https://bucket.test/{{.Board}}/{{.OSVersion}}/torcx_manifest.json'),
        runtimeMappings: fc.constant('kind: VersionManifestV1\nversions: {k8s: {1.37: {docker: [17.03]}}}\n'),
      },
      { requiredKeys: [] },
    ),
    publish: fc.constant('External' as const),
    fips: fc.constant(false as const),
  },
  { requiredKeys: [] },
);

/** Valid for a reader whose own architecture is `architecture` above. */
export const installConfigs: fc.Arbitrary<InstallConfigInput> = fc
  .record({
    name: clusterName,
    domain,
    isLocal: fc.boolean(),
    bringsHosts: fc.boolean(),
    masters: fc.constantFrom(1, 3, 5, 7),
    workers: fc.integer({ min: 0, max: 20 }),
    pools: fc.constantFrom<Architecture>('amd64', 'arm64'),
    gates: fc.uniqueArray(fc.stringMatching(/^[A-Z][a-z]{1,10}=(true|false)$/), {
      maxLength: 3,
      selector: (gate) => gate.split('=')[0],
    }),
    networks,
    extras,
  })
  .map(({ name, domain: [labels, top], isLocal, networks, gates, extras, ...rest }) => {
    const processors = isLocal ? architecture : rest.pools;
    const ranges = isLocal ? networks.machines.slice(0, 1) : networks.machines;
    const machineNetwork = ranges.map((third) => ({ cidr: `10.${networks.second}.${third}.0/24` }));
    return {
      metadata: { name },
      baseDomain: [...labels, top].join('.'),
      platform: isLocal ? { local: {} } : { none: {} },
      controlPlane: { replicas: rest.masters, architecture: processors },
      compute: [{ replicas: rest.workers, architecture: processors }],
      ...(!isLocal && rest.bringsHosts ? { hosts: hosts(rest, `10.${networks.second}.${ranges[0]}`) } : {}),
      networking: {
        machineNetwork,
        clusterNetwork: [
          { cidr: `10.128.0.0/${networks.podPrefix}`, hostPrefix: networks.podPrefix + networks.pieceBits },
        ],
        serviceNetwork: [`172.${networks.service}.0.0/${networks.servicePrefix}`],
      },
      ...(gates.length > 0 ? { featureSet: 'CustomNoUpgrade' as const, featureGates: gates } : {}),
      ...extras,
    };
  });

function hosts(counts: { readonly masters: number; readonly workers: number }, network: string) {
  const roles = [
    'bootstrap' as const,
    ...Array.from({ length: counts.masters }, () => 'master' as const),
    ...Array.from({ length: counts.workers }, () => 'worker' as const),
  ];
  return roles.map((role, i) => ({ name: `${role}-${i}`, role, addresses: [`${network}.${10 + i}`] }));
}
