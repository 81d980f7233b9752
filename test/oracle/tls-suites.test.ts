import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { tlsSuites } from '../../src/host/tls-suites.ts';

test.each(tlsSuites)('openssl knows $opensslName as $name', ({ name, opensslName }) => {
  const said = execFileSync('openssl', ['ciphers', '-stdname', '-tls1_2', '-s', opensslName], { encoding: 'utf8' });
  expect(said).toMatch(new RegExp(`^${name}\\s+- ${opensslName}\\s`));
});
