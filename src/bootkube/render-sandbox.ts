// What a container that renders a stage is given: the words of its command, what it can read, the one folder that it
// can write to, and no more. Everything it could do beside rendering is taken away.
import { join } from 'node:path';
import { releaseImageVariable } from '../contract/bootkube-environment.ts';
import { type BootkubeContext, contextInputs, releaseImage } from './context.ts';
import {
  assetFolder,
  assetInputFolder,
  assetManifestFolder,
  type OperatorCommand,
  operatorCommands,
  operatorWords,
} from './original-commands.ts';
import { rendererOf } from './who-renders.ts';

export interface ContainerStage {
  readonly number: number;
  readonly name: string;
  /** `11-ingress`. */
  readonly folder: string;
  readonly variable: string | undefined;
  /** As in `NumberedStage`. */
  readonly inputs: readonly string[];
  readonly keeps: readonly string[];
}

const memoryBytes = 1024 ** 3;

/** All that containerd gives to a container by default. A render makes files and needs none of them. */
const capabilities = [
  'CHOWN',
  'DAC_OVERRIDE',
  'FSETID',
  'FOWNER',
  'MKNOD',
  'NET_RAW',
  'SETGID',
  'SETUID',
  'SETFCAP',
  'SETPCAP',
  'NET_BIND_SERVICE',
  'SYS_CHROOT',
  'KILL',
  'AUDIT_WRITE',
];

/** The words after the entrypoint of the image. Ours has many components, so it is told which. */
export function renderWords(context: BootkubeContext, stage: ContainerStage): readonly string[] {
  const operator = operatorCommands[stage.number];
  if (rendererOf(context, stage.variable).kind === 'image' && operator !== undefined)
    return operatorWords(operator, releaseImage(context, releaseImageVariable));
  const output = outputFolderOf(stage);
  return ['render', stage.name, `--asset-input-dir=${assetInputFolder}`, `--asset-output-dir=${output}`];
}

export function outputFolderOf({ number, name }: Pick<ContainerStage, 'number' | 'name'>): string {
  const operator: OperatorCommand | undefined = operatorCommands[number];
  return operator?.outputFolder ?? join(assetFolder, name);
}

export async function containerFlags(
  context: BootkubeContext,
  stage: ContainerStage,
  output: string,
): Promise<readonly string[]> {
  const inputs = await inputMounts(context, stage);
  const hasKeys = inputs.some(([, dst]) => dst.startsWith(assetInputFolder));
  const mounts = [
    // Empty, and nothing can be written there either. The folder that the render is told of must exist.
    ...['/run', '/dev/shm', ...(hasKeys ? [] : [assetInputFolder])].map(emptyMount),
    ...inputs.map(([src, dst]) => bindMount(src, dst, 'ro')),
    bindMount(output, outputFolderOf(stage), 'rw'),
  ];
  return [
    '--read-only',
    ...capabilities.flatMap((name) => ['--cap-drop', `CAP_${name}`]),
    '--seccomp',
    '--user=0:0',
    '--cwd=/',
    `--memory-limit=${memoryBytes}`,
    ...Object.entries(context.images).flatMap(([name, reference]) => ['--env', `${name}=${reference}`]),
    ...mounts.flatMap((mount) => ['--mount', mount]),
  ];
}

function emptyMount(dst: string): string {
  return `type=tmpfs,src=tmpfs,dst=${dst},options=ro:nosuid:nodev:noexec`;
}

function bindMount(src: string, dst: string, rights: 'ro' | 'rw'): string {
  return `type=bind,src=${src},dst=${dst},options=rbind:${rights}:nosuid:nodev:noexec`;
}

/**
 * What exists of what the stage reads, at its own path. Keys are in the folder that the original names, and so is what
 * stage 1 has copied.
 */
async function inputMounts(
  { host, folders }: BootkubeContext,
  stage: ContainerStage,
): Promise<readonly (readonly [string, string])[]> {
  const kept = stage.keeps.map((name) => `render/${stage.folder}/${name}`);
  const names = [...new Set([...contextInputs, ...stage.inputs, ...kept])];
  const places = names.flatMap((name): readonly (readonly [string, string])[] => {
    if (name.startsWith('/')) return [[name, name]];
    const path = join(folders.assets, name);
    if (name === 'tls' || name.startsWith('tls/')) return [[path, join(assetFolder, name)]];
    return name === 'render/01-manifests'
      ? [
          [path, path],
          [path, assetManifestFolder],
        ]
      : [[path, path]];
  });
  const found = await Promise.all(places.map(async ([src]) => (await host.files.facts(src)) !== undefined));
  return places.filter((_, index) => found[index]);
}
