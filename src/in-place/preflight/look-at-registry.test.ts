import { describe, expect, test } from 'vitest';
import { kubeletPullSecret, registryHostsFolder } from '../../contract/machine-paths.ts';
import { hostErrors } from '../../host/errors.ts';
import { fakeHost } from '../../host/fake/fake-host.ts';
import type { HttpAnswer, HttpRequest } from '../../host/network.ts';
import { lookAtRegistries, readImageName } from './look-at-registry.ts';

const give = (status: number, headers = {}, body = ''): HttpAnswer => ({ status, headers, body: Buffer.from(body) });

async function look(image: string, serve: (request: HttpRequest) => HttpAnswer, files: Record<string, string> = {}) {
  const asked: string[] = [];
  const host = fakeHost({
    network: {
      request: async (request) => {
        asked.push(`${request.method ?? 'GET'} ${request.url}`);
        return serve(request);
      },
    },
  });
  for (const [path, text] of Object.entries(files)) {
    await host.files.makeFolder(path.slice(0, path.lastIndexOf('/')));
    await host.files.write(path, text);
  }
  const signal = new AbortController().signal;
  const [found] = await lookAtRegistries({ host, proxy: {}, signal }, [image]);
  return { answer: found?.answer, asked };
}

describe('the look at registries', () => {
  test.each([
    ['busybox', 'docker.io', 'library/busybox', 'latest'],
    ['quay.io/coreos/etcd:v3', 'quay.io', 'coreos/etcd', 'v3'],
    ['registry.test:5000/a/b@sha256:00', 'registry.test:5000', 'a/b', 'sha256:00'],
    ['localhost/x:1@sha256:00', 'localhost', 'x', 'sha256:00'],
  ])('reads the name %s as others do', (image, registry, repository, reference) => {
    expect(readImageName(image)).toEqual({ registry, repository, reference });
  });

  test('asks for the manifest alone', async () => {
    const { answer, asked } = await look('quay.io/a/b:1', () => give(200));
    expect(answer).toEqual({ status: 'answered', value: 200 });
    expect(asked).toEqual(['HEAD https://quay.io/v2/a/b/manifests/1']);
  });

  test('asks mirrors first, as containerd does', async () => {
    const { answer, asked } = await look(
      'quay.io/a/b:1',
      ({ url }) => {
        if (url.startsWith('https://m1.test')) {
          throw hostErrors.NETWORK({ target: url, failure: 'refused', reason: 'connection refused' });
        }
        return give(200);
      },
      {
        [`${registryHostsFolder}/quay.io/hosts.toml`]:
          '[host."https://m1.test"]\n[host."https://m2.test/v2/quay"]\noverride_path = true\n',
      },
    );
    expect(answer).toEqual({ status: 'answered', value: 200 });
    expect(asked).toEqual(['HEAD https://m1.test/v2/a/b/manifests/1', 'HEAD https://m2.test/v2/quay/a/b/manifests/1']);
  });

  test('gets a token by the credentials of the kubelet, where the registry asks for one', async () => {
    const challenge = 'Bearer realm="https://auth.test/token",service="quay.io",scope="repository:a/b:pull"';
    const { answer } = await look(
      'quay.io/a/b:1',
      ({ url, headers = {} }) => {
        if (url.startsWith('https://auth.test')) {
          return headers['authorization'] === 'Basic dTpw' ? give(200, {}, '{"token":"t"}') : give(401);
        }
        return headers['authorization'] === 'Bearer t' ? give(200) : give(401, { 'www-authenticate': challenge });
      },
      { [kubeletPullSecret]: '{"auths":{"quay.io":{"auth":"dTpw"}}}' },
    );
    expect(answer).toEqual({ status: 'answered', value: 200 });
  });

  test('says at which point a registry cannot be reached', async () => {
    const { answer } = await look('r.test/a:1', ({ url }) => {
      throw hostErrors.NETWORK({ target: url, failure: 'dns', reason: 'no such name' });
    });
    expect(answer).toEqual({ status: 'unreached', stage: 'dns', detail: 'no such name' });
  });
});
