import { expect, test } from 'vitest';
import { fakeHost } from '../host/fake/fake-host.ts';
import { choosePlatform } from './choose-platform.ts';
import { knownHostLines, sshArguments, sshConfigText, sshSettings } from './ssh-access.ts';

const settings = sshSettings({
  platform: choosePlatform(fakeHost(), {}),
  cluster: 'demo-1',
  machine: { name: 'bootstrap', address: '10.99.0.2' },
  program: ['/opt/node', "/home/o'neil/100%/main.ts"],
});

test('the way into a machine leads through the network of its cluster, and its key comes from its own files', () => {
  expect(sshConfigText(['bootstrap', '10.99.0.2'], settings)).toBe(`Host bootstrap 10.99.0.2
  HostName 10.99.0.2
  User core
  ProxyCommand nsenter --net=/run/netns/firstlight.demo-1 /opt/node '/home/o'\\''neil/100%%/main.ts' ssh-relay 10.99.0.2 22
  KnownHostsCommand /opt/node '/home/o'\\''neil/100%%/main.ts' ssh-host-keys --cluster demo-1 bootstrap %H
  UserKnownHostsFile /dev/null
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking yes
  CheckHostIP no
  UpdateHostKeys no
`);
  expect(sshArguments(settings)).toContain('StrictHostKeyChecking=yes');
});

test('only what is a public key is known, and nothing before the machine has one', async () => {
  const { files } = fakeHost();
  expect(await knownHostLines(files, 'a')).toEqual([]);
  await files.makeFolder('/etc/ssh');
  await files.write('/etc/ssh/ssh_host_ed25519_key.pub', 'ssh-ed25519 AAAAC3Nz root@a\n');
  await files.write('/etc/ssh/ssh_host_rsa_key.pub', 'AAAA\n* ssh-rsa BBBB\n');
  expect(await knownHostLines(files, 'a')).toEqual(['a ssh-ed25519 AAAAC3Nz']);
});
