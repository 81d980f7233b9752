// The texts that haproxy and CoreDNS are given. That the real ones take them and act on them is in
// test/e2e/machines.test.ts.
import { describe, expect, test } from 'vitest';
import { appsBalancerConfig } from './apps-balancer.ts';
import { hostPortConfig, loadBalancerConfig } from './load-balancer.ts';
import { nameServerConfig, zoneFile } from './name-server.ts';

const machines = [
  { name: 'bootstrap', role: 'bootstrap', address: '10.99.0.10' },
  { name: 'master-0', role: 'master', address: '10.99.0.11' },
  { name: 'worker-0', role: 'worker', address: '10.99.0.21' },
] as const;
const switchAddress = '10.99.0.1';
const ports = { api: 16_443, 'ingress-http': 18_080, 'ingress-https': 18_443, 'registry-push': 15_000 } as const;
const zone = { domain: 'demo.firstlight.test', switchAddress, machines };

describe('the load balancer', () => {
  const config = loadBalancerConfig({ switchAddress, machines, socketFolder: '/s' });
  const apps = appsBalancerConfig({ switchAddress, machines, socketFolder: '/s' });

  test('has the bootstrap machine and the masters behind both ports, and no worker', () => {
    const servers = config.split('\n').filter((line) => line.startsWith('  server '));
    expect(servers).toEqual([
      '  server bootstrap 10.99.0.10:6443 fall 5 tcp-ut 20s',
      '  server master-0 10.99.0.11:6443 fall 2 tcp-ut 20s',
      '  server bootstrap 10.99.0.10:6443 tcp-ut 20s',
      '  server master-0 10.99.0.11:6443 tcp-ut 20s',
      '  server bootstrap 10.99.0.10:22623 fall 5 tcp-ut 20s send-proxy-v2',
      '  server master-0 10.99.0.11:22623 fall 2 tcp-ut 20s send-proxy-v2',
      '  server bootstrap 10.99.0.10:22623 tcp-ut 20s send-proxy-v2',
      '  server master-0 10.99.0.11:22623 tcp-ut 20s send-proxy-v2',
    ]);
  });

  test('asks each backend over TLS whether it is ready, and gives it time to shake hands', () => {
    expect(config.match(/check check-ssl verify none inter 600ms fastinter 200ms downinter 200ms/g)).toHaveLength(2);
    expect(config).toContain('option httpchk GET /readyz');
    expect(config).toContain('option httpchk GET /healthz');
  });

  test('cuts no connection because of a check, and uses every machine when none passes', () => {
    expect(config).not.toContain('shutdown-sessions');
    for (const name of ['api', 'config-server']) {
      expect(config).toContain(`use_backend ${name} if { nbsrv(${name}) gt 0 }\n  default_backend ${name}-unchecked\n`);
    }
  });

  test('ends a minute after another one took over, also with connections that are left', () => {
    for (const text of [config, apps, hostPortConfig({ ports, socketFolder: '/s' })]) {
      expect(text).toContain('  hard-stop-after 60s\n');
    }
  });

  test('is reached from the host by loopback only', () => {
    const relay = hostPortConfig({ ports, socketFolder: '/s' });
    expect(relay.match(/bind .*/g)).toEqual(Object.values(ports).map((port) => `bind 127.0.0.1:${port}`));
    for (const name of Object.keys(ports)) {
      expect(relay).toContain(`  server switch unix@/s/${name}.sock\n`);
      expect(`${config}${apps}`).toContain(`  bind unix@/s/${name}.sock mode 666\n`);
    }
  });

  test('is not started anew when a worker comes or goes: that changes the other process alone', () => {
    const masters = machines.filter(({ role }) => role !== 'worker');
    expect(loadBalancerConfig({ switchAddress, machines: masters, socketFolder: '/s' })).toBe(config);
    expect(appsBalancerConfig({ switchAddress, machines: masters, socketFolder: '/s' })).not.toBe(apps);
  });

  test('serves 80 and 443 by masters and workers whose ingress controller says that it takes requests', () => {
    for (const [name, port] of [
      ['ingress-http', 80],
      ['ingress-https', 443],
    ] as const) {
      expect(apps).toContain(`frontend ${name}\n  bind ${switchAddress}:${port}\n`);
    }
    const servers = apps.split('\n').filter((line) => /^ {2}server .*:3008\d/.test(line));
    expect(servers).toEqual([
      '  server master-0 10.99.0.11:30080 track ingress-health/master-0 tcp-ut 20s',
      '  server worker-0 10.99.0.21:30080 track ingress-health/worker-0 tcp-ut 20s',
      '  server master-0 10.99.0.11:30081 track ingress-health/master-0 tcp-ut 20s',
      '  server worker-0 10.99.0.21:30081 track ingress-health/worker-0 tcp-ut 20s',
      '  server master-0 10.99.0.11:30082',
      '  server worker-0 10.99.0.21:30082',
    ]);
    expect(apps).toContain('option httpchk GET /ping');
  });

  test('lets machines pull from the registry by its port, and only the host push', () => {
    expect(apps).toContain(`frontend registry-pull\n  bind ${switchAddress}:5000\n  default_backend`);
    expect(apps).toContain('frontend registry-push\n  bind unix@/s/registry-push.sock mode 666\n  default_backend');
    expect(apps).toContain('  server worker-0 10.99.0.21:30051 track registry-pull/worker-0 tcp-ut 20s\n');
  });
});

describe('the name server', () => {
  test('knows the API, the apps and every machine', () => {
    expect(
      zoneFile(zone)
        .split('\n')
        .filter((line) => / IN A /.test(line)),
    ).toEqual([
      'switch IN A 10.99.0.1',
      'api IN A 10.99.0.1',
      'api-int IN A 10.99.0.1',
      '*.apps IN A 10.99.0.1',
      'bootstrap IN A 10.99.0.10',
      'master-0 IN A 10.99.0.11',
      'worker-0 IN A 10.99.0.21',
    ]);
  });

  test('has another serial whenever the machines differ, and only then', () => {
    const serial = (text: string): string | undefined => /hostmaster (\d+)/.exec(text)?.[1];
    expect(serial(zoneFile(zone))).toBe(serial(zoneFile({ ...zone })));
    expect(serial(zoneFile(zone))).not.toBe(serial(zoneFile({ ...zone, machines: machines.slice(1) })));
  });

  test('keeps its configuration when machines come and go, so that it need not be restarted', () => {
    const config = (input: typeof zone | (Omit<typeof zone, 'machines'> & { machines: [] })): string =>
      nameServerConfig({ ...input, zoneFile: '/s/zone' });
    expect(config(zone)).toBe(config({ ...zone, machines: [] }));
  });
});
