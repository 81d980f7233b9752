// What the test of the torcx bootstrapper on real machines puts there: a bucket with a package list that GnuPG signed,
// and machines that take themselves for Container Linux. Local machines have no torcx, so a unit of ours does at every
// boot the one thing the bootstrapper reads afterwards: it says which profile this boot used.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pauseImage } from '../../src/assets/software-facts.ts';
import {
  containerdConfig,
  kubeletConfiguration,
  kubeletEnvironmentSeed,
  nodeSettingsFile,
  programs,
  staticPodFolder,
} from '../../src/contract/machine-paths.ts';
import { nodeSettingsText } from '../../src/contract/node-settings.ts';
import { containerdConfigText } from '../../src/machine-software/containerd-config.ts';
import { ignitionUnit } from '../../src/machine-software/ignition-unit.ts';
import { kubeletConfigurationText } from '../../src/machine-software/kubelet-configuration.ts';
import { containerdUnit, kubeletUnit, prepareUnit } from '../../src/machine-software/node-units.ts';
import { kubeletGate, nodeBootstrapUnit } from '../../src/torcx/node-bootstrap-unit.ts';
import type { TlsServerSettings } from './tls-server.ts';

export const osVersion = '1520.5.0';
/** The docker that fits; a machine that runs it already need not reboot. */
export const chosenDocker = '17.03';

export interface TestBucket {
  readonly answers: TlsServerSettings['answers'];
  readonly imageDigest: string;
}

/** A package list for the machines' OS, its signature, and the one archive it offers. */
export function makeBucket(folder: string, url: string, sign: (content: string) => string): TestBucket {
  const image = makeArchive(folder);
  const imageDigest = createHash('sha512').update(image).digest('hex');
  const imagePath = `/images/docker:${chosenDocker}.torcx.tgz`;
  const version = { version: chosenDocker, hash: `sha512-${imageDigest}`, locations: [{ url: `${url}${imagePath}` }] };
  const value = { packages: [{ name: 'docker', defaultVersion: chosenDocker, versions: [version] }] };
  const list = JSON.stringify({ kind: 'torcx-package-list-v0', value });
  const listPath = `/manifests/amd64-usr/${osVersion}/torcx_manifest.json`;
  return {
    imageDigest,
    answers: {
      [listPath]: list,
      [`${listPath}.asc`]: sign(list),
      [imagePath]: { base64: image.toString('base64') },
    },
  };
}

/** An add-on as torcx unpacks it: its own manifest, and what is to be linked into the system. */
function makeArchive(folder: string): Buffer {
  const root = join(folder, 'addon');
  for (const path of ['.torcx', 'bin']) mkdirSync(join(root, path), { recursive: true });
  const manifest = { kind: 'image-manifest-v0', value: { bin: ['/bin/docker'] } };
  writeFileSync(join(root, '.torcx/manifest.json'), JSON.stringify(manifest));
  writeFileSync(join(root, 'bin/docker'), '#!/bin/sh\n', { mode: 0o755 });
  const archive = join(folder, 'addon.tgz');
  execFileSync('tar', ['--create', '--gzip', `--file=${archive}`, `--directory=${root}`, '.']);
  return readFileSync(archive);
}

const folderOfInstaller = '/etc/kubernetes/installer';
const authority = `${folderOfInstaller}/bucket-ca.crt`;
const keyring = `${folderOfInstaller}/pubring.gpg`;

const installerEnv = `# from the installer
KUBELET_IMAGE_URL="quay.io/coreos/hyperkube"
KUBELET_IMAGE_TAG="v1.8.4_coreos.0"
KUBELET_EXTRA_ARGS="--v=1 --max-pods=42"
`;
export const expectedKubeletEnv = `# from the installer
KUBELET_IMAGE_URL=quay.io/coreos/hyperkube
KUBELET_IMAGE_TAG=v1.8.4_coreos.0
KUBELET_EXTRA_ARGS="--v=1 --max-pods=42"
`;

const sealUnit = {
  name: 'torcx-seal.service',
  enabled: true,
  contents: `[Unit]
Before=k8s-node-bootstrap.service
[Service]
Type=oneshot
ExecStart=/bin/sh -c 'next=$$(cat /etc/torcx/next-profile || echo vendor); cd /etc/torcx/profiles; \\
  [ -e "$$next.json" ] || cd /usr/share/torcx/profiles; install -D --mode=644 "$$next.json" /run/torcx/profile.json'
[Install]
WantedBy=multi-user.target
`,
};

export interface TorcxMachine {
  /** The docker of the profile that its OS image brings. */
  readonly runningDocker: string;
  readonly bucketUrl: string;
  readonly bucketAuthority: string;
  readonly publicKey: string;
}

export function torcxIgnition(machine: TorcxMachine): object {
  const vendorProfile = {
    kind: 'profile-manifest-v0',
    value: { images: [{ name: 'docker', reference: machine.runningDocker }] },
  };
  const bootstrap = nodeBootstrapUnit({
    program: programs.firstlight,
    upgradesOs: false,
    skipsSetup: false,
    manifestUrl: `${machine.bucketUrl}/manifests/{{.Board}}/{{.OSVersion}}/torcx_manifest.json`,
    // The pauses between two tries in one run are minutes; this test waits for the pause between two runs instead.
    flags: [`--keyring=${keyring}`, `--ca-file=${authority}`, '--pause-scale=0.02'],
  });
  const kubelet = { ...ignitionUnit(kubeletUnit({ mode: 'standalone' })), dropins: kubeletGate.dropins };
  return {
    ignition: { version: '3.5.0' },
    storage: {
      directories: [{ path: staticPodFolder, mode: 0o755 }],
      files: [
        file('/usr/lib/os-release', `ID=coreos\nVERSION_ID=${osVersion}\nCOREOS_BOARD="amd64-usr"\n`),
        file('/usr/share/torcx/profiles/vendor.json', JSON.stringify(vendorProfile)),
        file('/var/lib/docker/old', 'data of the docker before'),
        file(kubeletEnvironmentSeed, installerEnv),
        file(
          `${folderOfInstaller}/runtime-mappings.yaml`,
          `kind: VersionManifestV1\nversions:\n  k8s:\n    1.8:\n      docker: ["${chosenDocker}", "1.12"]\n`,
        ),
        file(keyring, machine.publicKey),
        file(authority, machine.bucketAuthority),
        file(containerdConfig, containerdConfigText({ pauseImage })),
        file(kubeletConfiguration, kubeletConfigurationText({ kind: 'standalone' })),
        file(nodeSettingsFile, nodeSettingsText({ machineNetworks: ['10.99.0.0/24'] })),
      ],
    },
    systemd: { units: [sealUnit, bootstrap, kubelet, ...[prepareUnit, containerdUnit].map(ignitionUnit)] },
  };
}

function file(path: string, content: string): object {
  const source = `data:;base64,${Buffer.from(content).toString('base64')}`;
  return { path, mode: 0o644, overwrite: true, contents: { source } };
}
