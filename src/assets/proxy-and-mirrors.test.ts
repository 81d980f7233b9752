// What the proxy and the mirrors of an install-config become on machines, from files as a user would write them.
import { describe, expect, test } from 'vitest';
import { proxyFor } from '../host/proxy-variables.ts';
import { parseInstallConfig } from '../install-config/parse.ts';
import { machineProxy, mirroredRegistries, proxyCredentialsContent } from './proxy-and-mirrors.ts';

const config = (text: string) => parseInstallConfig(text, { file: 'f', architecture: 'amd64' }).config;

describe('a proxy', () => {
  test('is given to machines without its user and password, which are a file of their own', () => {
    const secret = config('proxy: {httpProxy: "http://p.test:1", httpsProxy: "https://u:open\\"$esame@p.test:2"}');
    expect(machineProxy(secret)).toMatchObject({
      httpProxy: 'http://p.test:1',
      httpsProxy: 'https://p.test:2',
      hasCredentials: true,
    });
    expect(proxyCredentialsContent(secret)).toBe('HTTPS_PROXY="https://u:open\\"\\$esame@p.test:2"\n');
    const plain = config('proxy: {httpProxy: "http://p.test:1"}');
    expect(machineProxy(plain)).toMatchObject({ hasCredentials: false });
    expect(machineProxy(plain)).not.toHaveProperty('httpsProxy');
    expect(proxyCredentialsContent(plain)).toBeUndefined();
    expect(machineProxy(config(''))).toBeUndefined();
  });

  test('never stands between the parts of the cluster', () => {
    const behind = machineProxy(
      config('metadata: {name: a}\nbaseDomain: b.test\nproxy: {httpsProxy: "http://p.test:1", noProxy: ".c.test"}'),
    );
    const variables = { HTTPS_PROXY: behind?.httpsProxy, NO_PROXY: behind?.noProxy.join(',') };
    const ways = [
      'https://api.a.b.test:6443',
      'https://api-int.a.b.test:22623/config/master',
      'https://10.99.0.11:2379',
      'https://10.128.3.4',
      'https://172.30.0.1',
      'https://kubernetes.default.svc',
      'https://web.team.svc.cluster.local',
      'https://localhost:6443',
      'https://x.c.test',
    ];
    expect(ways.filter((url) => proxyFor(url, variables) !== undefined)).toEqual([]);
    expect(proxyFor('https://registry.test', variables)).toBe('http://p.test:1');
    expect(proxyFor('https://registry.b.test', variables)).toBe('http://p.test:1');
  });
});

describe('mirrors', () => {
  test('of all repositories in a registry are the mirrors of that registry, each once and in order', () => {
    const text = `imageDigestSources:
- {source: r.test/team, mirrors: [m.test/team, "m.test:5000/copies/team"]}
- {source: r.test/base/images, mirrors: [m.test/base/images, other.test/x/base/images]}
- {source: docker.io, mirrors: [m.test/hub]}
- {source: lonely.test/team}
`;
    expect(mirroredRegistries(config(text))).toEqual([
      {
        name: 'r.test',
        isDigestOnly: true,
        mirrors: [
          { url: 'https://m.test' },
          { url: 'https://m.test:5000/v2/copies' },
          { url: 'https://other.test/v2/x' },
        ],
      },
      { name: 'docker.io', isDigestOnly: true, mirrors: [{ url: 'https://m.test/v2/hub' }] },
    ]);
  });
});
