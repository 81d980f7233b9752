// Makes the payload of one worker: script, playbooks, variables and contents as a tar.gz, with a manifest that names
// worker, cluster and region and the digest of every file, signed by the key of the config server that made it.
import { createPrivateKey, sign } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { packTar } from 'modern-tar';
import { cniPluginFolder, programs } from '../../contract/machine-paths.ts';
import type { Secret } from '../../host/secret.ts';
import type { FileNode } from '../../ignition/config.ts';
import { toYaml } from '../../kubernetes/yaml.ts';
import type { MachineConfig } from '../../machine-config/machine-config.ts';
import { digestOf } from '../../workflow/digest.ts';
import { basePlaybook } from './base-playbook.ts';
import {
  auditPackages,
  auditUnit,
  baseFiles,
  baseFileText,
  basePackages,
  baseRights,
  baseUnits,
  nodePackages,
} from './base-settings.ts';
import { ansibleSettingsText, bootstrapScript } from './bootstrap-script.ts';
import { type KubeContents, kubeContents } from './kube-contents.ts';
import { kubePlaybook } from './kube-playbook.ts';
import {
  contentsName,
  type PayloadIds,
  type PayloadManifest,
  payloadFormat,
  payloadPaths,
  type StageTouches,
} from './payload-manifest.ts';
import { payloadSteps } from './payload-steps.ts';
import { octal, type PlacedFile } from './playbook-tasks.ts';

export interface PayloadRequest {
  readonly ids: PayloadIds;
  readonly pool: string;
  /** The rendered one. */
  readonly machineConfig: MachineConfig;
  /** What the config server adds for each machine: the kubeconfig with its token, the served config, authorities. */
  readonly addedFiles: readonly FileNode[];
  /** Of the config server: its certificate with those between it and its authority, and the key. */
  readonly signer: { readonly certificatePem: string; readonly keyPem: Secret };
  readonly now: Date;
}

interface ArchiveFile {
  readonly bytes: Uint8Array;
  readonly mode: number;
}

/** The bytes of the tar.gz. Throws PAYLOAD_NOT_EXPRESSIBLE. */
export async function buildPayload(request: PayloadRequest): Promise<Uint8Array> {
  const contents = kubeContents(request.machineConfig, request.addedFiles);
  const files = payloadContents(contents);
  const manifest = Buffer.from(`${JSON.stringify(manifestOf(request, contents, files), null, 2)}\n`);
  const key = createPrivateKey(request.signer.keyPem.reveal());
  const signature = Buffer.from(`${sign('sha256', manifest, key).toString('base64')}\n`);
  return archive(
    new Map<string, ArchiveFile>([
      [payloadPaths.manifest, { bytes: manifest, mode: 0o600 }],
      [payloadPaths.signature, { bytes: signature, mode: 0o600 }],
      [payloadPaths.certificate, { bytes: Buffer.from(request.signer.certificatePem), mode: 0o600 }],
      ...files,
    ]),
  );
}

/** Sorted, without times and owners. */
async function archive(files: ReadonlyMap<string, ArchiveFile>): Promise<Uint8Array> {
  const entries = [...files]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, { bytes, mode }]) => ({
      header: { name, size: bytes.length, type: 'file' as const, mode, mtime: new Date(0), uid: 0, gid: 0 },
      body: bytes,
    }));
  return gzipSync(await packTar(entries));
}

function payloadContents(contents: KubeContents): ReadonlyMap<string, ArchiveFile> {
  const placed = placedFiles(contents);
  const text = (value: string, mode = 0o600): ArchiveFile => ({ bytes: Buffer.from(value), mode });
  return new Map<string, ArchiveFile>([
    [payloadPaths.script, text(bootstrapScript, 0o700)],
    [payloadPaths.playbook.base, text(toYaml(basePlaybook))],
    [payloadPaths.playbook.kube, text(toYaml(kubePlaybook))],
    [payloadPaths.ansibleSettings, text(ansibleSettingsText)],
    [payloadPaths.variables, text(`${JSON.stringify(variablesOf(contents, placed), null, 2)}\n`)],
    ...placed.map(({ name, bytes }) => [`${payloadPaths.contents}/${name}`, { bytes, mode: 0o600 }] as const),
  ]);
}

interface Placed extends PlacedFile {
  readonly step: string;
  /** In the folder of contents. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

function placedFiles({ files }: KubeContents): readonly Placed[] {
  const base = baseFiles.map((file) => ({ ...file, owner: '0', group: '0', bytes: Buffer.from(baseFileText(file)) }));
  return [...base, ...files].map(({ step, path, mode, owner, group, bytes }, index) => {
    const name = contentsName(index + 1, path);
    return { step, path, mode: octal(mode), owner, group, bytes, name, source: `files/${name}` };
  });
}

/** The programs of a node; a machine image that has one of them has all. */
const nodePrograms: readonly string[] = [
  programs.kubelet,
  programs.kubeProxy,
  programs.containerd,
  programs.firstlight,
  `${cniPluginFolder}/bridge`,
];

function variablesOf({ folders, links, users, units }: KubeContents, placed: readonly Placed[]): unknown {
  const filesOf = (step: string): readonly PlacedFile[] =>
    placed
      .filter((file) => file.step === step)
      .map(({ path, source, mode, owner, group }) => ({ path, source, mode, owner, group }));
  return {
    ipb_packages: basePackages,
    ipb_audit_packages: auditPackages,
    ipb_node_packages: nodePackages,
    ipb_programs: nodePrograms,
    ipb_rights: baseRights.map(({ path, mode }) => ({ path, mode: octal(mode) })),
    ipb_files: Object.fromEntries(payloadSteps.map(({ name }) => [name, filesOf(name)])),
    ipb_folders: folders,
    ipb_links: links,
    ipb_users: users,
    ipb_units: units,
  };
}

function manifestOf(
  { ids, pool, machineConfig, now }: PayloadRequest,
  contents: KubeContents,
  files: ReadonlyMap<string, ArchiveFile>,
): PayloadManifest {
  const digests = [...files].map(([path, { bytes, mode }]) => [path, { sha256: digestOf(bytes), mode }] as const);
  return {
    format: payloadFormat,
    ...ids,
    pool,
    config: machineConfig.metadata.name,
    madeAt: now.toISOString(),
    steps: payloadSteps.map(({ stage, name }) => ({ stage, name })),
    touches: { base: baseTouches, kube: kubeTouches(contents) },
    files: Object.fromEntries(digests),
  };
}

const baseTouches: StageTouches = {
  paths: [
    ...baseFiles.map(({ path }) => ({ path, what: 'contents' as const })),
    ...baseRights.map(({ path }) => ({ path, what: 'rights' as const })),
  ],
  units: [...baseUnits, auditUnit],
};

function kubeTouches({ files, folders, links, units }: KubeContents): StageTouches {
  return {
    paths: [
      ...[...files, ...links].map(({ path }) => ({ path, what: 'contents' as const })),
      ...folders.map(({ path }) => ({ path, what: 'rights' as const })),
    ],
    units: [...units.enabled, ...units.disabled, ...units.unmasked],
  };
}
