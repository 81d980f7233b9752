import { describe, expect, test } from 'vitest';
import { explainInstallConfig } from './explain.ts';
import { fieldsOf, type JsonSchema, jsonSchema, schemaAt } from './json-schema.ts';
import { configRules } from './rules.ts';

describe('explain', () => {
  test('says what a field is, what it defaults to, what is allowed and which rules read it', () => {
    expect(explainInstallConfig('installconfig.networking.clusterNetwork[0].hostPrefix', 'amd64')).toMatchObject({
      kind: 'InstallConfig',
      version: 'v1',
      path: 'installconfig.networking.clusterNetwork.hostPrefix',
      name: 'hostPrefix',
      type: 'integer',
      isRequired: false,
      default: 23,
      allowed: ['8 to 30'],
      fields: [],
      rules: expect.arrayContaining([
        'hostPrefix is at least the prefix of its cidr and at most 16 longer.',
      ]) as string[],
    });
    expect(explainInstallConfig('installconfig.hosts.role', 'amd64')).toMatchObject({
      type: 'string',
      isRequired: true,
      allowed: ['master', 'worker', 'bootstrap'],
    });
  });

  test('lists the fields of a map and of the entries of a list, sorted', () => {
    const names = (path: string) => explainInstallConfig(path, 'amd64').fields.map(({ name }) => name);
    expect(names('installconfig.hosts')).toEqual(['addresses', 'name', 'role']);
    expect(names('installconfig.compute')).toEqual(['architecture', 'hyperthreading', 'name', 'platform', 'replicas']);
    expect(names('installconfig')).toEqual(names('installconfig').sort());
  });

  test('of a field that does not exist names the nearest one', () => {
    expect(() => explainInstallConfig('installconfig.networking.serviceNetworks', 'amd64')).toThrow(
      expect.objectContaining({
        code: 'INSTALLCONFIG_NO_SUCH_FIELD',
        exit: 2,
        message: 'installconfig.networking has no field serviceNetworks; did you mean serviceNetwork?',
      }),
    );
  });
});

describe('the JSON Schema', () => {
  const fieldsBelow = (schema: JsonSchema, path: string): readonly (readonly [string, JsonSchema])[] =>
    [...fieldsOf(schema)].flatMap(([name, field]) => [
      [`${path}${name}`, field] as const,
      ...fieldsBelow(field, `${path}${name}.`),
    ]);

  test('describes every field there is', () => {
    const all = fieldsBelow(jsonSchema('amd64'), '');
    expect(all.length).toBeGreaterThan(40);
    expect(all.filter(([, { description }]) => (description ?? '') === '').map(([path]) => path)).toEqual([]);
  });

  test('allows nothing beyond the fields it names', () => {
    expect(jsonSchema('amd64').additionalProperties).toBe(false);
    expect(schemaAt(jsonSchema('amd64'), ['hosts', 0])?.additionalProperties).toBe(false);
    expect(jsonSchema('amd64').$schema).toBe('http://json-schema.org/draft-07/schema#');
  });

  test('knows every field that a rule reads', () => {
    const paths = configRules.flatMap(({ reads }) => reads);
    expect(paths.filter((path) => schemaAt(jsonSchema('amd64'), path) === undefined)).toEqual([]);
  });
});
