// Runs in a machine: what the processes of Kubernetes really run with, and who may read and change their files. It
// follows the flags of the processes, changes nothing, and lets no secret out of the machine.
import { dirname, isAbsolute, join } from 'node:path';
import { parse as parseToml, TomlError } from 'smol-toml';
import { parse as parseYaml, YAMLParseError } from 'yaml';
import { z } from 'zod';
import {
  cniConfigFolder,
  containerdConfig,
  kubeletClientCertificate,
  kubeProxyKubeconfig,
  kubernetesFolder,
  machineStateFolder,
} from '../../contract/machine-paths.ts';
import { unitNames } from '../../contract/unit-names.ts';
import { isError } from '../../errors/firstlight-error.ts';
import { hostErrors } from '../../host/errors.ts';
import type { Host } from '../../host/host.ts';
import { type FoundProcess, fileFlags, findKubernetesProcesses, ifAlive } from './find-processes.ts';
import type { OwnedFile, ProcessSettings, SecurityFacts } from './security-facts.ts';

export async function lookAtSecurity(host: Host): Promise<SecurityFacts> {
  const found = await findKubernetesProcesses(host.files);
  const kubelet = found.find(({ program, unit }) => program === 'kubelet' && unit === unitNames.kubelet);
  const [processes, staticPods, networkFiles, kubeletUnitFiles, kubeletConfigFiles, credentials] = await Promise.all([
    Promise.all(found.map(async (process) => ({ ...process, settings: await settingsOf(host, process) }))),
    lookAtStaticPods(host, kubelet),
    lookAtNetworkFiles(host),
    lookAtKubeletUnit(host),
    lookAtKubeletConfig(host, kubelet),
    lookForCredentials(host),
  ]);
  return {
    hostname: host.environment.hostname,
    processes,
    staticPods: [...staticPods],
    networkFiles: [...networkFiles],
    kubeletUnitFiles: [...kubeletUnitFiles],
    kubeletConfigFiles: [...kubeletConfigFiles],
    credentials,
  };
}

/** The path that a flag of the process names. */
function flagPath(process: FoundProcess | undefined, flag: string): string | undefined {
  return fileFlags(process?.arguments ?? []).findLast((each) => each.flag === flag)?.path;
}

/** The parsed file of a flag, as the process sees it; undefined where there is none or it cannot be read. */
async function flagFile(host: Host, process: FoundProcess | undefined, flag: string): Promise<unknown> {
  const path = flagPath(process, flag);
  return path === undefined || process === undefined ? undefined : readYaml(host, `/proc/${process.pid}/root${path}`);
}

function readYaml(host: Host, path: string): Promise<unknown> {
  return readParsed(host, path, (text): unknown => parseYaml(text));
}

async function readParsed(host: Host, path: string, parse: (text: string) => unknown): Promise<unknown> {
  const text = await ifAlive(undefined, () => host.files.readText(path));
  if (text === undefined) return undefined;
  try {
    return parse(text);
  } catch (error) {
    // A program that could not read it would not run: the file changed after its start.
    if (error instanceof YAMLParseError || error instanceof TomlError) return undefined;
    throw error;
  }
}

async function ownedFile(host: Host, path: string): Promise<readonly OwnedFile[]> {
  const facts = await ifAlive(undefined, () => host.files.facts(path));
  if (facts === undefined) return [];
  const { mode, uid, gid } = facts;
  return [{ path, mode, uid, gid }];
}

/** Files of a folder, not of the folders in it. */
async function ownedFiles(host: Host, folder: string): Promise<readonly OwnedFile[]> {
  const names = (await ifAlive(undefined, () => host.files.list(folder))) ?? [];
  return (await Promise.all(names.map((name) => ownedFile(host, join(folder, name))))).flat();
}

const kubeletSettings = z.object({ staticPodPath: z.string().optional() });
const podManifest = z.object({ spec: z.object({ containers: z.array(z.object({ name: z.string() })) }) });

async function lookAtStaticPods(
  host: Host,
  kubelet: FoundProcess | undefined,
): Promise<readonly SecurityFacts['staticPods'][number][]> {
  const settings = kubeletSettings.safeParse(await flagFile(host, kubelet, 'config')).data;
  const folder = flagPath(kubelet, 'pod-manifest-path') ?? settings?.staticPodPath;
  if (folder === undefined) return [];
  const files = (await ownedFiles(host, folder)).map(async (file) => {
    const pod = podManifest.safeParse(await readYaml(host, file.path)).data;
    return { ...file, containers: (pod?.spec.containers ?? []).map(({ name }) => name) };
  });
  return Promise.all(files);
}

const containerdSettings = z.object({
  plugins: z.object({ 'io.containerd.cri.v1.runtime': z.object({ cni: z.object({ conf_dir: z.string() }) }) }),
});
const pluginTypes = z.object({ plugins: z.array(z.object({ type: z.string() })) });

async function lookAtNetworkFiles(host: Host): Promise<readonly SecurityFacts['networkFiles'][number][]> {
  const settings = containerdSettings.safeParse(await readParsed(host, containerdConfig, parseToml)).data;
  const folder = settings?.plugins['io.containerd.cri.v1.runtime'].cni.conf_dir ?? cniConfigFolder;
  const files = (await ownedFiles(host, folder)).map(async (file) => {
    const network = pluginTypes.safeParse(await readYaml(host, file.path)).data;
    return { ...file, plugins: (network?.plugins ?? []).map(({ type }) => type) };
  });
  return Promise.all(files);
}

async function lookAtKubeletUnit(host: Host): Promise<readonly OwnedFile[]> {
  const properties = '--property=FragmentPath,DropInPaths';
  const shown = await outputOf(host, 'systemctl', ['show', properties, unitNames.kubelet]);
  const paths = [...shown.matchAll(/^(?:FragmentPath|DropInPaths)=(.+)$/gm)].flatMap(([, list = '']) =>
    list.split(' '),
  );
  return (await Promise.all(paths.map((path) => ownedFile(host, path)))).flat();
}

async function outputOf(host: Host, program: string, args: readonly string[]): Promise<string> {
  try {
    return (await host.processes.run(program, args, { timeoutMs: 5_000 })).stdout;
  } catch (error) {
    if (isError(error, hostErrors.PROGRAM_MISSING)) return '';
    throw error;
  }
}

async function lookAtKubeletConfig(host: Host, kubelet: FoundProcess | undefined): Promise<readonly OwnedFile[]> {
  const [config, folder] = [flagPath(kubelet, 'config'), flagPath(kubelet, 'config-dir')];
  const lists = await Promise.all([
    config === undefined ? [] : ownedFile(host, config),
    folder === undefined ? [] : ownedFiles(host, folder),
  ]);
  return lists.flat();
}

/** Where a machine of a cluster has keys and kubeconfigs. */
const credentialFolders = [
  kubernetesFolder,
  machineStateFolder,
  dirname(kubeletClientCertificate),
  dirname(kubeProxyKubeconfig),
];
/** No key, certificate or kubeconfig is larger. */
const credentialBytes = 256 * 1024;

async function lookForCredentials(host: Host): Promise<SecurityFacts['credentials']> {
  return (await Promise.all(credentialFolders.map((folder) => credentialsBelow(host, folder)))).flat();
}

async function credentialsBelow(host: Host, folder: string): Promise<SecurityFacts['credentials']> {
  const names = (await ifAlive(undefined, () => host.files.list(folder))) ?? [];
  const found = names.map(async (name): Promise<SecurityFacts['credentials']> => {
    const path = join(folder, name);
    const facts = await ifAlive(undefined, () => host.files.facts(path));
    if (facts?.kind === 'folder') return credentialsBelow(host, path);
    if (facts?.kind !== 'file' || facts.sizeBytes > credentialBytes) return [];
    const holds = contentKind(await ifAlive('', () => host.files.readText(path)));
    const { mode, uid, gid } = facts;
    return holds === undefined ? [] : [{ path, mode, uid, gid, holds }];
  });
  return (await Promise.all(found)).flat();
}

export function contentKind(text: string): SecurityFacts['credentials'][number]['holds'] | undefined {
  if (/^kind: "?Config"?\s*$/m.test(text) && /^clusters:/m.test(text)) return 'kubeconfig';
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)) return 'key';
  if (/\bkind"?: "?EncryptionConfig/.test(text)) return 'key';
  return text.includes('-----BEGIN CERTIFICATE-----') ? 'certificate' : undefined;
}

const encryptionConfiguration = z.object({
  resources: z.array(
    z.object({ resources: z.array(z.string()), providers: z.array(z.record(z.string(), z.unknown())) }),
  ),
});

async function settingsOf(host: Host, process: FoundProcess): Promise<ProcessSettings> {
  if (process.program === 'kube-proxy') return kubeProxySettings(host, process);
  return process.program === 'kube-apiserver' ? apiserverSettings(host, process) : {};
}

async function apiserverSettings(host: Host, process: FoundProcess): Promise<ProcessSettings> {
  const [auditPolicy, admission, authentication, encryption] = await Promise.all([
    flagFile(host, process, 'audit-policy-file'),
    readAdmission(host, process),
    flagFile(host, process, 'authentication-config'),
    flagFile(host, process, 'encryption-provider-config'),
  ]);
  // Only the names of providers: what stands below them are keys.
  const encrypted = encryptionConfiguration.safeParse(encryption).data?.resources.map(({ resources, providers }) => ({
    resources,
    providers: providers.flatMap((provider) => Object.keys(provider)),
  }));
  return {
    ...(auditPolicy === undefined ? {} : { auditPolicy }),
    ...(admission === undefined ? {} : { admission }),
    ...(authentication === undefined ? {} : { authentication }),
    ...(encrypted === undefined ? {} : { encryption: encrypted }),
  };
}

const admissionConfiguration = z.looseObject({
  plugins: z.array(z.looseObject({ name: z.string(), path: z.string().optional() })),
});

/** With the configuration of a plugin in place of the file that has it. */
async function readAdmission(host: Host, apiserver: FoundProcess): Promise<unknown> {
  const flag = 'admission-control-config-file';
  const read = admissionConfiguration.safeParse(await flagFile(host, apiserver, flag)).data;
  const folder = dirname(flagPath(apiserver, flag) ?? '/');
  if (read === undefined) return undefined;
  const plugins = read.plugins.map(async ({ path, ...plugin }) => {
    if (path === undefined) return plugin;
    const seen = `/proc/${apiserver.pid}/root${isAbsolute(path) ? path : join(folder, path)}`;
    return { ...plugin, configuration: await readYaml(host, seen) };
  });
  return { plugins: await Promise.all(plugins) };
}

const proxyConfiguration = z.object({ metricsBindAddress: z.string().exactOptional() });

async function kubeProxySettings(host: Host, process: FoundProcess): Promise<ProcessSettings> {
  return proxyConfiguration.safeParse(await flagFile(host, process, 'config')).data ?? {};
}
