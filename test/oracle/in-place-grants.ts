// What the config servers of masters give to machines that are bootstrapped in place: the grant of a pod, judged by the
// real kube-apiserver, and the payload, judged by openssl and tar.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  inPlaceNamespace,
  progressPath,
  reporterAudience,
  reporterGrantSchema,
  reporterPath,
} from '../../src/contract/in-place.ts';
import { type AttemptLab, as, cluster, eventNumber, id, notAfter, post } from './attempt-lab.ts';
import { applyTo } from './config-server-masters.ts';
import { judge } from './programs.ts';

export function grantTests(at: () => AttemptLab): void {
  function podOn({ plane }: AttemptLab, node: string, name: string): void {
    applyTo(plane, { apiVersion: 'v1', kind: 'Node', metadata: { name: node } });
    const containers = [{ name: 'ipb', image: 'registry.test/firstlight' }];
    const metadata = { name, namespace: inPlaceNamespace };
    applyTo(plane, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata,
      spec: { nodeName: node, serviceAccountName: 'ipb', containers },
    });
  }
  const tokenOf = (...args: readonly string[]): string =>
    at()
      .plane.kubectl('create', 'token', 'ipb', '-n', inPlaceNamespace, ...args)
      .output.trim();

  test('is for the token that the API has bound to a pod on that node, and for no other', () => {
    const { curl, makeAttempt, makeSecret, servers } = at();
    podOn(at(), 'node-g', 'ipb-g');
    podOn(at(), 'node-h', 'ipb-h');
    const bound = (pod: string): readonly string[] => ['--bound-object-kind', 'Pod', '--bound-object-name', pod];
    const genuine = tokenOf('--audience', reporterAudience, ...bound('ipb-g'));
    const path = reporterPath(cluster, 'node-g');
    makeSecret('node-g', { os: 'rhcos', 'attempt-id': id(7), 'not-after': notAfter, 'ignition-token': 'the token' });
    for (const wrong of [
      tokenOf('--audience', reporterAudience, ...bound('ipb-h')),
      tokenOf('--audience', reporterAudience),
      tokenOf(...bound('ipb-g')),
      `${genuine.slice(0, -4)}AAAA`,
    ]) {
      expect(curl(servers[0], path, [...as(wrong), '-X', 'POST']).status).toBe(401);
    }
    makeAttempt('node-g', id(7));
    const granted = curl(servers[0], path, [...as(genuine), '-X', 'POST']);
    expect(granted.status).toBe(200);
    const grant = reporterGrantSchema.parse(JSON.parse(granted.body));
    expect(grant.secret['ignition-token']).toBe('the token');
    const events = progressPath(cluster, 'node-g', id(7));
    expect(curl(servers[1], events, post(grant.token, eventNumber(1))).status).toBe(202);
    expect(curl(servers[1], events, post(grant.token, eventNumber(2, { phase: 'KubeletStopped' }))).status).toBe(202);
    expect(curl(servers[0], path, [...as(genuine), '-X', 'POST']).status).toBe(409);
    const log = servers.map((server) => server.logText()).join('');
    for (const secret of [grant.token, genuine, 'the token']) expect(log).not.toContain(secret);
  });
}

export function payloadTests(at: () => AttemptLab): void {
  test('gives the worker of the token an archive that openssl finds signed by the config server', () => {
    const { curl, makeAttempt, makeSecret, lab, servers } = at();
    makeAttempt('node-p', id(8), 'rhel');
    makeSecret('node-p', {
      os: 'rhel',
      'attempt-id': id(8),
      'not-after': notAfter,
      'bootstrap-token': 'flb_of-node-p',
      'worker-id': 'w-17',
      'cluster-id': cluster,
      region: 'north',
    });
    const path = `/v1/payload?worker-id=w-17&cluster-id=${cluster}&region=north`;
    const to = lab.at('payload.tar.gz');
    expect(curl(servers[0], path, as('flb_of-node-q')).status).toBe(401);
    expect(curl(servers[0], path.replace('w-17', 'w-18'), as('flb_of-node-p')).status).toBe(403);
    expect(curl(servers[0], path, [...as('flb_of-node-p'), '-o', to]).status).toBe(200);
    const folder = lab.at('payload');
    mkdirSync(folder);
    expect(judge('tar', ['-xzf', to, '-C', folder]).code).toBe(0);
    const inside = (name: string): string => join(folder, name);
    expect(judge('cat', [inside('manifest.json')]).output).toContain('"workerId": "w-17"');
    const [certificate = '', ...between] = judge('cat', [inside('certificate.pem')]).output.split(/(?=-----BEGIN)/);
    writeFileSync(inside('leaf.pem'), certificate);
    writeFileSync(inside('between.pem'), between.join(''));
    const trust = ['verify', '-CAfile', lab.at('root-ca.crt'), '-untrusted', inside('between.pem'), inside('leaf.pem')];
    expect(judge('openssl', trust).output).toContain('OK');
    writeFileSync(inside('key.pem'), judge('openssl', ['x509', '-in', inside('leaf.pem'), '-noout', '-pubkey']).output);
    writeFileSync(inside('signature'), Buffer.from(judge('cat', [inside('manifest.sig')]).output, 'base64'));
    const verify = [
      'dgst',
      '-sha256',
      '-verify',
      inside('key.pem'),
      '-signature',
      inside('signature'),
      inside('manifest.json'),
    ];
    expect(judge('openssl', verify).output).toContain('Verified OK');
    expect(judge('bash', ['-n', inside('bootstrap.sh')]).code).toBe(0);
  });
}
