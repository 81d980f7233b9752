import { expect, test } from 'vitest';
import { parseIgnition } from './parse.ts';
import { formatReport } from './report.ts';

const text = `{
  "ignition": { "version": "3.5.0" },
  "storage": {
    "files": [
      { "path": "etc/motd", "mode": 420, "colour": "red" },
      { "path": "/etc/hosts", "contents": { "source": "ftp://a" } }
    ]
  }
}
`;

test('every complaint has its place in the text, errors first', () => {
  expect(formatReport(parseIgnition(text).report, 'config.ign')).toBe(
    [
      'config.ign:5:17: error: $.storage.files.0.path: the path is not absolute',
      'config.ign:6:55: error: $.storage.files.1.contents.source: URLs of this scheme cannot be fetched in this spec: ftp',
      'config.ign:5:42: warning: $.storage.files.0.colour: unknown key, ignored',
      '',
    ].join('\n'),
  );
});

test('what is missing is reported at the object that lacks it', () => {
  const { report } = parseIgnition('{"ignition":{"version":"3.5.0"},\n"storage":{"links":[ {"path":"/a"} ]}}');
  expect(report.errors).toMatchObject([{ path: '$.storage.links.0.target', position: { line: 2, column: 22 } }]);
});

test('a valid config comes back in the version it declares, without what null and unknown keys said', () => {
  const parsed = parseIgnition(
    '{"ignition":{"version":"03.2.0"},"later":1,"storage":{"files":[{"path":"/a","mode":null}]}}',
  );
  expect(parsed).toMatchObject({
    status: 'parsed',
    config: { ignition: { version: '3.2.0' }, storage: { files: [{ path: '/a' }] } },
    report: { errors: [], warnings: [{ code: 'UNKNOWN_KEY' }] },
  });
});

test('zero bytes are told apart from a bad config', () => {
  expect(parseIgnition('').status).toBe('empty');
  expect(parseIgnition(new Uint8Array()).status).toBe('empty');
  expect(parseIgnition('\n').status).toBe('refused');
});

test('bytes are read as UTF-8, and a byte order mark is not skipped', () => {
  const config = '{"ignition":{"version":"3.5.0"},"passwd":{"users":[{"name":"jürgen"}]}}';
  expect(parseIgnition(Buffer.from(config))).toMatchObject({
    status: 'parsed',
    config: { passwd: { users: [{ name: 'jürgen' }] } },
  });
  expect(parseIgnition(Buffer.from(`\ufeff${config}`)).report.errors).toMatchObject([
    { code: 'BAD_JSON', position: { line: 1, column: 1 } },
  ]);
});

test('every mistake of type is reported, not only the first', () => {
  const { report } = parseIgnition('{"ignition":{"version":"3.5.0"},"storage":{"files":[{"path":1,"mode":"0644"}]}}');
  expect(report.errors.map(({ path, message }) => [path, message])).toEqual([
    ['$.storage.files.0.path', 'wrong type of value: expected a string, found the number 1'],
    ['$.storage.files.0.mode', 'wrong type of value: expected an integer, found a string'],
  ]);
});

test('a version that is not supported is named', () => {
  expect(formatReport(parseIgnition('{"ignition":{"version":"2.3.0"}}').report)).toBe(
    'config:1:24: error: $.ignition.version: only the spec versions 3.0.0 to 3.5.0 are supported: 2.3.0; ign-converter rewrites configs of spec 2\n',
  );
});

test('large and hostile configs are judged in reasonable time', () => {
  const config = (body: string) => `{"ignition":{"version":"3.5.0"},${body}}`;
  const repeat = (count: number, item: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => item(index)).join(',');
  const file = (resource: string) => config(`"storage":{"files":[{"path":"/a","contents":${resource}}]}`);
  const texts = [
    file(`{"source":"data:;base64,${'YWFh'.repeat(5_000_000)}"}`),
    file(`{"source":"data:,${'%41'.repeat(2_000_000)}"}`),
    file(String.raw`{"source":"data:text/plain;a=\"${'\\\\n'.repeat(1_000_000)}\",x"}`),
    config(repeat(20_000, (index) => `"k${index}":1`)),
    config(`"storage":{"files":[${repeat(20_000, (index) => `{"path":"a${index}"}`)}]}`),
    config(`"storage":{"links":[{"path":"/l","target":"t"}],"files":[{"path":"${'/a'.repeat(500_000)}"}]}`),
    config(`"systemd":{"units":[{"name":"${'a@'.repeat(500_000)}.service","enabled":true}]}`),
  ];
  for (const one of texts) expect(parseIgnition(one).status).toMatch(/parsed|refused/);
}, 20_000);
