import { expect, test } from 'vitest';
import { defaultInstallConfig, parseInstallConfig } from './parse.ts';
import { defaultAnswers, inputOf } from './questions.ts';
import { renderInstallConfig } from './render.ts';

const text = renderInstallConfig(inputOf(defaultAnswers('amd64'), 'amd64'), 'amd64');

test('the default file is the default cluster, spelled out', () => {
  const { config, warnings } = parseInstallConfig(text, { file: 'f', architecture: 'amd64' });
  expect(config).toEqual(defaultInstallConfig('amd64'));
  expect(warnings).toEqual([]);
});

test('the default file teaches, and its first line lets editors complete it', () => {
  expect(text.split('\n').slice(0, 12)).toEqual([
    '# yaml-language-server: $schema=.firstlight/install-config.schema.json',
    '',
    'apiVersion: v1',
    '',
    '# What the cluster is called.',
    'metadata:',
    '  # The name of the cluster; with baseDomain it makes the domain of everything in it.',
    '  name: demo',
    '',
    '# The domain the cluster lives in: with the name demo, its API is api.demo.<baseDomain>. Platform',
    '# local answers for it by itself; elsewhere your DNS must.',
    'baseDomain: firstlight.test',
  ]);
  expect(text).toMatch(
    /\n# Not set here, so with their defaults: hosts, security, authentication, sshKey, [^]*describes every field\.\n$/,
  );
  expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(102);
});

test('texts that YAML 1.1 takes for something else are quoted', () => {
  const rendered = renderInstallConfig({ metadata: { name: 'on' }, baseDomain: '1_000' }, 'amd64');
  expect(rendered).toContain('name: "on"');
  expect(rendered).toContain('baseDomain: "1_000"');
});
