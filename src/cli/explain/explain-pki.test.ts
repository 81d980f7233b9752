import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { leafProfiles, signerProfiles } from '../../pki/profiles.ts';
import { cliErrors } from '../frame/errors.ts';
import { explainPki } from './explain-pki.ts';

const page = readFileSync(fileURLToPath(new URL('../../../docs/security.md', import.meta.url)), 'utf8');

test('docs/security.md has what the command prints; if not, put its output between the quotes', () => {
  const printed = /^Printed by `firstlight explain pki`[^`]*```\n([^`]*)```$/m.exec(page)?.[1];
  expect(printed).toBe(explainPki(undefined).text);
});

test('every signer and every certificate is there, each under its signer', () => {
  const data = explainPki(undefined).data as { name: string; leaves: { name: string }[] }[];
  expect(data.map(({ name }) => name)).toEqual(Object.keys(signerProfiles));
  expect(data.flatMap(({ leaves }) => leaves.map(({ name }) => name)).sort()).toEqual(Object.keys(leafProfiles).sort());
});

test('one of them says why it is there', () => {
  expect(explainPki('etcd-signer').text).toContain('why      Whoever etcd believes');
  expect(explainPki('kube-proxy').text).toMatch(
    /signer {3}control-plane-client-signer; made by the machine for itself/,
  );
  expect(() => explainPki('etcd-singer')).toThrow(
    expect.objectContaining({
      code: cliErrors.USAGE.code,
      message: expect.stringContaining('did you mean etcd-signer?'),
    }),
  );
});
