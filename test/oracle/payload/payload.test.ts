import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AttemptSettings, attemptFiles } from '../../../src/contract/in-place.ts';
import { daemonFiles } from '../../../src/contract/machine-config-node.ts';
import { inlineFile } from '../../../src/ignition/inline-contents.ts';
import type { PayloadRequest } from '../../../src/in-place/payload/build-payload.ts';
import { payloadSteps } from '../../../src/in-place/payload/payload-steps.ts';
import {
  sampleIds,
  sampleMachineConfig,
  samplePayload,
  samplePki,
  sampleServer,
} from '../../../src/in-place/payload/sample-payload.ts';
import { judge } from '../programs.ts';
import { type MachineTree, machineTree, mustRun } from './machine-tree.ts';
import { aptKey, aptSource, makeDeb, makeRpm, serveRepository, signAptRepository } from './package-repository.ts';
import type { StageRecord } from './run-stage.ts';

const attemptId = '6f1c0f3a-0000-4000-8000-000000000001';
const paths = attemptFiles(attemptId);
const pki = samplePki(new Date());
const settings: AttemptSettings = {
  attemptId,
  node: 'worker-0',
  isAdoption: false,
  facts: { clusterId: 'demo-x7k2p', serviceUrl: `https://${sampleServer}:22623`, serviceCa: pki.authority },
  grant: {
    attemptId,
    secret: {
      'bootstrap-url': `https://${sampleServer}:22623/v1/payload`,
      'bootstrap-ca.crt': pki.authority,
      'worker-id': sampleIds.workerId,
      'cluster-id': sampleIds.clusterId,
      region: sampleIds.region,
    },
    token: 'token',
    ackSeq: 0,
  },
  lastSeq: 0,
  programDigests: {},
};

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'payload-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function treeWith(changes: Partial<PayloadRequest> = {}): Promise<MachineTree> {
  const tree = await machineTree();
  const archive = await samplePayload({ signer: pki.signer(), ...changes });
  await tree.run(
    'sh',
    ['-c', `umask 077; mkdir -p ${paths.folder}; base64 -d > ${paths.archive}`],
    Buffer.from(archive).toString('base64'),
  );
  await tree.run('sh', ['-c', `cat > ${paths.settings}`], JSON.stringify(settings));
  return tree;
}

async function runStage(tree: MachineTree, stage: 'base' | 'kube'): Promise<StageRecord> {
  const { code, output } = await tree.run(process.execPath, [
    join(import.meta.dirname, 'run-stage.ts'),
    paths.settings,
    stage,
  ]);
  if (code !== 0) throw new Error(output);
  return JSON.parse(output.split('\n').findLast((line) => line.startsWith('{')) ?? '') as StageRecord;
}

const told = ({ events }: StageRecord): readonly string[] => events.map(({ step, status }) => `${step} ${status}`);
const stepsOf = (stage: string): readonly string[] =>
  payloadSteps
    .filter((step) => step.stage === stage)
    .flatMap(({ name }) => [`${stage}/${name} started`, `${stage}/${name} ok`]);

describe('the playbooks', () => {
  test('are accepted by ansible-playbook and, with the strictest profile, by ansible-lint', async () => {
    const unpacked = join(folder, 'unpacked');
    mkdirSync(unpacked);
    writeFileSync(join(folder, 'payload.tar.gz'), await samplePayload());
    mustRun('tar', ['-xzf', join(folder, 'payload.tar.gz'), '-C', unpacked], folder);
    mustRun('bash', ['-n', 'bootstrap.sh'], unpacked);
    const playbooks = ['base.yml', 'kube.yml'].map((name) => join(unpacked, 'ansible', name));
    expect(judge('ansible-playbook', ['--syntax-check', '-i', 'localhost,', ...playbooks])).toMatchObject({ code: 0 });
    const lint = judge('ansible-lint', ['--offline', '--nocolor', '--profile', 'production', ...playbooks]);
    expect(lint.output).toContain('Passed with production profile');
  });
});

const unit = '[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n';
const kubeletLink = '/etc/systemd/system/multi-user.target.wants/kubelet.service';

/** Empty files at the paths of the programs: the playbook looks whether they are there. */
async function provideNodePrograms(tree: MachineTree): Promise<void> {
  const programs = ['bin/kubelet', 'bin/kube-proxy', 'bin/containerd', 'bin/firstlight'].map(
    (name) => `/usr/local/${name}`,
  );
  await tree.shell(`mkdir -p /opt/cni/bin; touch /opt/cni/bin/bridge ${programs.join(' ')}`);
}

async function useRepository(tree: MachineTree, folderOfIt: string, url: string): Promise<void> {
  await tree.run('sh', ['-c', 'base64 -d > /etc/apt/ipb.gpg'], aptKey(folderOfIt).toString('base64'));
  await tree.shell(`rm -rf /etc/apt/sources.list.d/*; printf '%s' '${aptSource(url)}' > /etc/apt/sources.list`);
}

const baseStandIns = ['rsyslog', 'logrotate', 'auditd'].map((name) => ({ name, version: '99:1' }));

describe('on a Debian tree', () => {
  test('stage A updates packages and the kernel from a signed repository, and hardens; a second run does nothing', async () => {
    const repository = join(folder, 'apt');
    mkdirSync(repository);
    const older = makeDeb(repository, { name: 'ipb-sample', version: '1.0', files: { '/opt/ipb/sample': '1.0\n' } });
    const kernel = { name: 'linux-image-sample', version: '2.0', files: { '/boot/vmlinuz-sample': 'kernel\n' } };
    makeDeb(repository, { ...kernel, version: '1.0', files: { '/boot/vmlinuz-sample': 'old kernel\n' } });
    for (const standIn of baseStandIns) makeDeb(repository, standIn);
    await using tree = await treeWith();
    const install = [older, join(repository, 'linux-image-sample_1.0.deb')];
    for (const path of install)
      await tree.run('sh', ['-c', 'base64 -d > /p.deb; dpkg -i /p.deb'], readFileSync(path, 'base64'));
    makeDeb(repository, { name: 'ipb-sample', version: '2.0', files: { '/opt/ipb/sample': '2.0\n' } });
    makeDeb(repository, kernel);
    signAptRepository(repository);
    await using server = await serveRepository(repository);
    await tree.run('sh', ['-c', 'base64 -d > /etc/apt/ipb.gpg'], aptKey(repository).toString('base64'));
    await tree.shell(
      `rm -rf /etc/apt/sources.list.d/*; printf '%s' '${aptSource(server.url)}' > /etc/apt/sources.list`,
    );

    const base = await runStage(tree, 'base');
    expect(base.outcome).toMatchObject({ status: 'done' });
    expect(told(base)).toEqual(stepsOf('base'));
    expect(await tree.shell('cat /opt/ipb/sample /boot/vmlinuz-sample')).toBe('2.0\nkernel\n');
    // No audit where this host is a container itself.
    const isContainer = judge('systemd-detect-virt', ['--quiet', '--container']).code === 0;
    const installed = isContainer ? 'rsyslog logrotate' : 'rsyslog logrotate auditd';
    expect(await tree.shell(`dpkg-query -W -f '\${Version} ' ${installed}`)).toMatch(/^(99:1 )+$/);
    expect(await tree.shell('stat -c %a /etc/ssh/sshd_config.d/60-ipb-hardening.conf /etc/cron.d')).toBe('600\n700\n');
    expect(await tree.shell('cat /etc/sysctl.d/80-ipb-performance.conf')).toContain('-vm.max_map_count = 262144');
    expect(told(await runStage(tree, 'base'))).toEqual([]);
  });

  test('stage B makes a wrecked machine a node without drift, and removes what the former configuration had', async () => {
    await using tree = await treeWith();
    const former = sampleMachineConfig({
      ignition: { version: '3.5.0' },
      storage: { files: [inlineFile({ path: '/etc/former', content: 'former', mode: 0o644 })] },
      systemd: { units: [{ name: 'former.service', enabled: true, contents: unit }] },
    });
    await tree.shell(
      [
        'mkdir -p /etc/machine-config-daemon /etc/systemd/system/kubelet.service.d /etc/kubernetes',
        `printf '%s' '${JSON.stringify(former)}' > ${daemonFiles.currentConfig}`,
        'touch /etc/former /etc/systemd/system/kubelet.service.d/99-foreign.conf',
        `printf '%s' '${unit}' > /etc/systemd/system/former.service; systemctl enable former.service`,
        'ln -s /dev/null /etc/systemd/system/containerd.service; ln -s /nowhere /etc/pointer',
      ].join('; '),
    );
    await provideNodePrograms(tree);
    const kube = await runStage(tree, 'kube');
    expect(kube).toMatchObject({ outcome: { status: 'done' }, drift: [] });
    expect(told(kube)).toEqual(stepsOf('kube'));
    expect(await tree.shell(`cat ${daemonFiles.currentConfig}`)).toBe(JSON.stringify(sampleMachineConfig()));
    expect(await tree.shell('stat -c %a /etc/kubernetes/kubeconfig')).toBe('600\n');
    const gone = ['/etc/former', '/etc/systemd/system/former.service', daemonFiles.encapsulated];
    const links = ['/etc/systemd/system/multi-user.target.wants/former.service', kubeletLink];
    for (const path of [...gone, ...links, '/etc/systemd/system/kubelet.service.d/99-foreign.conf']) {
      expect.soft((await tree.run('test', ['-e', path])).code, path).toBe(1);
    }
    expect(told(await runStage(tree, 'kube'))).toEqual([]);
  });

  test('a stage that fails half way puts back every file, link, mode and unit, and says which step failed and why', async () => {
    const missing = { name: 'nowhere.service', enabled: true };
    const config = sampleMachineConfig().spec.config;
    const units = [...(config.systemd?.units ?? []), missing];
    await using tree = await treeWith({ machineConfig: sampleMachineConfig({ ...config, systemd: { units } }) });
    await provideNodePrograms(tree);
    await tree.shell(
      [
        'mkdir -p /etc/kubernetes; echo mine > /etc/motd; chmod 640 /etc/motd; chgrp 65534 /etc/motd',
        'ln -s /dev/null /etc/systemd/system/containerd.service; ln -s /nowhere /etc/pointer',
        `printf '%s' '${unit}' > /etc/systemd/system/kubelet.service; systemctl enable kubelet.service`,
      ].join('; '),
    );
    const picture =
      'cd /etc; find . -path ./machine-config-daemon -prune -o -printf "%p %y %m %U %G %l\\n" | sort; cat motd; sha256sum systemd/system/*.service';
    const before = await tree.shell(picture);
    const { events, outcome } = await runStage(tree, 'kube');
    expect(outcome).toEqual({
      status: 'undone',
      failure: {
        code: 'StageFailed',
        message: 'kube/units failed: Could not find the requested service nowhere.service: host',
      },
    });
    expect(events.at(-1)).toMatchObject({ step: 'kube/units', status: 'started' });
    expect(await tree.shell(picture)).toBe(before);
    // Nothing but the way back is open to this attempt, and it has been gone.
    expect(await runStage(tree, 'kube')).toMatchObject({ events: [], outcome });
  });

  test('repositories that do not answer mean exit code 75, and a package that nobody has means failure', async () => {
    const repository = join(folder, 'empty');
    mkdirSync(repository);
    makeDeb(repository, { name: 'rsyslog', version: '99:1' });
    signAptRepository(repository);
    await using server = await serveRepository(repository);
    await using tree = await treeWith();
    await useRepository(tree, repository, server.url);
    await tree.shell(`mkdir -p ${paths.payload}; tar -xzf ${paths.archive} -C ${paths.payload}`);
    const step = () => tree.run('bash', [`${paths.payload}/bootstrap.sh`, 'base', 'packages']);
    server.setAvailable(false);
    expect(await step()).toMatchObject({ code: 75 });
    server.setAvailable(true);
    const { code, output } = await step();
    expect(code).toBe(2);
    expect(output).toContain("No package matching 'logrotate' is available");
  });
});

describe('on a tree of the Red Hat family', () => {
  test('packages come by dnf from its repository; repositories that do not answer mean exit code 75', async () => {
    const repository = join(folder, 'dnf');
    mkdirSync(repository);
    const sample = { name: 'ipb-sample', version: '1.0', files: { '/opt/ipb/sample': '1.0' } };
    const older = readFileSync(makeRpm(repository, sample), 'base64');
    makeRpm(repository, { ...sample, version: '2.0', files: { '/opt/ipb/sample': '2.0' } });
    for (const name of ['rsyslog', 'logrotate', 'audit']) makeRpm(repository, { name, version: '1.0' });
    mustRun('createrepo_c', ['--quiet', repository], repository);
    await using server = await serveRepository(repository);
    await using tree = await treeWith();
    const source = `[ipb]\nname=ipb\nbaseurl=${server.url}\ngpgcheck=0\n`;
    await tree.shell(
      [
        `mkdir -p ${paths.payload} /etc/yum.repos.d; tar -xzf ${paths.archive} -C ${paths.payload}`,
        `printf '${source}' > /etc/yum.repos.d/ipb.repo`,
        'rm /etc/os-release; printf \'ID="almalinux"\\nID_LIKE="rhel centos fedora"\\nVERSION_ID="9.4"\\n\' > /etc/os-release',
      ].join('; '),
    );
    await tree.run('sh', ['-c', 'base64 -d > /p.rpm; rpm -i --nodeps /p.rpm'], older);
    const step = () => tree.run('bash', [`${paths.payload}/bootstrap.sh`, 'base', 'packages']);
    expect(await step()).toMatchObject({ code: 0 });
    expect(await tree.shell('cat /opt/ipb/sample; rpm -q rsyslog logrotate')).toBe(
      '2.0\nrsyslog-1.0-1.noarch\nlogrotate-1.0-1.noarch\n',
    );
    server.setAvailable(false);
    expect(await step()).toMatchObject({ code: 75 });
  });
});
