import { expect, test } from 'vitest';
import type { IgnitionConfig } from './config.ts';
import { reportVerdict } from './report.ts';
import { validate } from './validate.ts';

test('a config that was built, not parsed, is checked by the same rules, without positions', () => {
  const config: IgnitionConfig = { ignition: { version: '3.5.0' }, storage: { files: [{ path: 'a', mode: 0o1777 }] } };
  expect(validate(config)).toEqual({
    errors: [
      { severity: 'error', code: 'RELATIVE_PATH', message: 'the path is not absolute', path: '$.storage.files.0.path' },
    ],
    warnings: [
      {
        severity: 'warning',
        code: 'SPECIAL_MODE_BITS',
        message: 'setuid, setgid and sticky bits have no effect before spec 3.6',
        path: '$.storage.files.0.mode',
      },
    ],
  });
});

test('the rules are those of the declared spec', () => {
  const link = (version: '3.2.0' | '3.3.0'): IgnitionConfig => ({
    ignition: { version },
    storage: { links: [{ path: '/a' }] },
  });
  expect(reportVerdict(validate(link('3.2.0')))).toBe('fine');
  expect(reportVerdict(validate(link('3.3.0')))).toBe('error');
});

test('duplicates are looked for unless told otherwise', () => {
  const config: IgnitionConfig = { ignition: { version: '3.5.0' }, passwd: { users: [{ name: 'a' }, { name: 'a' }] } };
  expect(validate(config).errors).toMatchObject([{ code: 'DUPLICATE', path: '$.passwd.users.1' }]);
  expect(reportVerdict(validate(config, { duplicates: false }))).toBe('fine');
});
