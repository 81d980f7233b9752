// Both layers of the redaction: what is refused by its name, and what the filter finds in any content. Keys are real
// ones, because the filter must know what real ones look like.
import { generateKeyPairSync } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { toYaml } from '../../kubernetes/yaml.ts';
import { redactFile } from './redact-file.ts';
import { isRefusedName } from './refused-names.ts';

const pem = (type: 'ec' | 'rsa'): string => {
  const pair =
    type === 'ec'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 2048 });
  return pair.privateKey.export({ type: type === 'ec' ? 'sec1' : 'pkcs8', format: 'pem' }).toString();
};
const ecKey = pem('ec');
const rsaKey = pem('rsa');
/** Lines of the keys that must be nowhere. */
const needles = [ecKey, rsaKey].flatMap((key) => key.split('\n').filter((line) => /^[\w+/=]{16,}$/.test(line)));
const base64 = (text: string): string => Buffer.from(text).toString('base64');

function expectClean(text: string): void {
  for (const needle of needles) {
    expect(text).not.toContain(needle);
    for (const part of text.match(/[A-Za-z0-9+/]{40,}={0,2}/g) ?? []) {
      expect(Buffer.from(part, 'base64').toString('latin1')).not.toContain(needle);
    }
  }
}

const inJournal = (key: string): string =>
  key
    .split('\n')
    .map((line) => `Nov 16 19:00:00.000000 master-0 program[7]: ${line}`)
    .join('\n');

const logs: Readonly<Record<string, string>> = {
  'a key as it is': `before\n${ecKey}after\n`,
  'a key in the lines of a journal': `before\n${inJournal(rsaKey)}\nafter\n`,
  'a key whose beginning was cut off': `${inJournal(rsaKey).split('\n').slice(4).join('\n')}\nafter\n`,
  'a key in a line of JSON': `before ${JSON.stringify({ message: rsaKey })}\nafter\n`,
  'a key in base64': `before client-key-data: ${base64(ecKey)} and more\nafter\n`,
  'a key in a kubeconfig in base64': `before ${base64(`users: [{user: {client-key-data: ${base64(ecKey)}}}]`)}\nafter\n`,
  'a key in the encoding of URLs': `before data:,${encodeURIComponent(ecKey)}\nafter\n`,
};

describe('in a log', () => {
  test.each(Object.entries(logs))('%s is removed, and nothing around it', (_what, text) => {
    const filtered = redactFile('bootstrap/journals/kubelet.log', text);
    expectClean(filtered);
    expect(filtered).toContain('[removed');
    expect(filtered).toContain('after');
  });

  test('tokens and passwords are removed, names and digests stay', () => {
    const jwt = `${base64('{"alg":"RS256"}').replace(/=/g, '')}.${'a'.repeat(40)}.${'b'.repeat(86)}`;
    const secrets = ['abcdef.0123456789abcdef', `flp_${'x'.repeat(43)}`, jwt, 'hunter2222'];
    const text = [
      `Authorization: Bearer ${jwt}`,
      `token ${secrets[0]} of the pool`,
      `pool ${secrets[1]}`,
      `proxy https://user:${secrets[3]}@proxy.test:3128`,
      'image sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef of master-0.gath.firstlight.test',
    ].join('\n');
    const filtered = redactFile('x.log', text);
    for (const secret of secrets) expect(filtered).not.toContain(secret);
    expect(filtered).toContain('cdef0123456789abcdef of master-0.gath.firstlight.test');
  });

  test('certificates stay readable', () => {
    const certificate = `-----BEGIN CERTIFICATE-----\n${base64('x'.repeat(90))}\n-----END CERTIFICATE-----`;
    expect(redactFile('x.log', certificate)).toBe(certificate);
  });

  test('a Secret that somebody printed is removed as a whole, as YAML and as JSON', () => {
    const yaml =
      'line\napiVersion: v1\ndata:\n  password: aHVudGVyMjIyMg==\nkind: Secret\nmetadata:\n  name: a\n---\nother';
    expect(redactFile('x.log', yaml)).toBe('line\n[removed: an object that holds secrets]\n---\nother');
    const json = '{"kind":"Secret","data":{"plain":"aHVudGVyMjIyMg=="},"metadata":{"name":"a"}}';
    expect(redactFile('x.log', json)).not.toContain('aHVudGVyMjIyMg');
  });
});

describe('in a file of objects', () => {
  const pod = {
    kind: 'Pod',
    metadata: { name: 'a', managedFields: [{}] },
    spec: {
      containers: [
        {
          env: [
            { name: 'PASSWORD', value: 'hunter2222' },
            { name: 'NODE', valueFrom: { fieldRef: {} } },
          ],
        },
      ],
      volumes: [{ secret: { secretName: 'certs' } }],
    },
  };

  test('environment variables lose their values, and references to Secrets stay', () => {
    const filtered = JSON.parse(redactFile('resources/pods.json', JSON.stringify({ items: [pod] }))) as object;
    expect(filtered).toEqual({
      items: [
        {
          kind: 'Pod',
          metadata: { name: 'a' },
          spec: {
            containers: [
              {
                env: [
                  { name: 'PASSWORD', value: '[removed]' },
                  { name: 'NODE', valueFrom: { fieldRef: {} } },
                ],
              },
            ],
            volumes: [{ secret: { secretName: 'certs' } }],
          },
        },
      ],
    });
  });

  const objects: Readonly<Record<string, unknown>> = {
    'a Secret': { kind: 'Secret', metadata: { name: 'a' }, data: { key: base64(ecKey), plain: 'aHVudGVyMjIyMg==' } },
    'a kubeconfig': { kind: 'Config', users: [{ user: { 'client-key-data': base64(ecKey), token: 'hunter2222' } }] },
    'the keys of encryption': { kind: 'EncryptionConfiguration', resources: [{ secret: 'hunter2222' }] },
    'a ConfigMap with a kubeconfig': {
      kind: 'ConfigMap',
      data: { kubeconfig: toYaml({ kind: 'Config', users: [{ user: { 'client-key-data': base64(rsaKey) } }] }) },
    },
    'a MachineConfig with a key': {
      kind: 'MachineConfig',
      spec: { files: [{ contents: { source: `data:,${encodeURIComponent(ecKey)}` } }] },
    },
    'a MachineConfig with a compressed key': {
      kind: 'MachineConfig',
      spec: { files: [{ contents: { source: `data:;base64,${gzipSync(ecKey).toString('base64')}` } }] },
    },
    'a pull secret': { pullSecret: '{"auths":{"r.test":{"auth":"aHVudGVyMjIyMg=="}}}' },
  };

  test.each(Object.entries(objects))('%s gives nothing away, as JSON and as YAML', (_what, object) => {
    for (const [path, text] of [
      ['a.json', JSON.stringify(object)],
      ['a.yaml', toYaml(object)],
      ['a.yaml', `${toYaml({ kind: 'Namespace' })}---\n${toYaml(object)}`],
    ] as const) {
      const filtered = redactFile(path, text);
      expectClean(filtered);
      expect(filtered).not.toMatch(/hunter2222|aHVudGVyMjIyMg/);
    }
  });

  test('what has no secret stays as it was written, its comments too', () => {
    const yaml = '# why\nkind: MachineConfig\nspec:\n  files:\n    - source: "data:,plain%20text"\n';
    expect(redactFile('a.yaml', yaml)).toBe(yaml);
  });

  test('what cannot be parsed is filtered as text', () => {
    expectClean(redactFile('a.json', `{"cut": ${JSON.stringify(rsaKey)}`));
    expectClean(redactFile('a.yaml', `a: [\n${rsaKey}`));
  });
});

test.each([
  'tls/root-ca.key',
  'auth/kubeconfig-loopback',
  'pull-Secret.yaml',
  'pool-tokens.json',
  'a/kubeadmin-password',
])('%s is refused by its name', (path) => expect(isRefusedName(path)).toBe(true));

test('files next to them are not', () => {
  expect(isRefusedName('secrets/etcd-pod.yaml')).toBe(false);
});
