import { expect, test } from 'vitest';
import { parseInstallConfig } from './parse.ts';
import { withoutSecrets } from './secrets.ts';

test('the copy that may be shown has no pull secret and no password of a proxy', () => {
  const text = `pullSecret: '{"auths":{"r.test":{"auth":"hunter2"}}}'
proxy: {httpProxy: "http://u:hunter2@p.test:1", httpsProxy: "http://u:hunter@2@p.test", noProxy: a.test}`;
  const { config } = parseInstallConfig(text, { file: 'f', architecture: 'amd64' });
  const shown = withoutSecrets(config);
  expect(JSON.stringify(shown)).not.toContain('hunter');
  expect(shown.proxy).toEqual({ httpProxy: 'http://p.test:1', httpsProxy: 'http://p.test', noProxy: 'a.test' });
  expect({ ...shown, pullSecret: config.pullSecret, proxy: config.proxy }).toEqual(config);
});
