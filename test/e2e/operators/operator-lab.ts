// What the topics about the release and its operators share: what kubectl says of them, objects of a test's own, and the
// ways from the host into the cluster.
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cli, eventually } from '../machine-lab.ts';
import { type TrustCluster, trustKubeconfig, trustKubectl, trustKubectlJson } from '../trust/trust-cluster.ts';

export interface SeenCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

export interface SeenStatus {
  readonly metadata: { readonly name: string };
  readonly status: { readonly conditions: readonly SeenCondition[] };
}

/** `True (AsExpected): words`, or nothing where there is no such condition. */
export function conditionText({ status }: SeenStatus, type: string): string {
  const found = status.conditions.find((condition) => condition.type === type);
  return found === undefined ? '' : `${found.status} (${found.reason}): ${found.message}`;
}

export interface SeenVersion extends SeenStatus {
  readonly status: SeenStatus['status'] & {
    readonly history: readonly { readonly state: string; readonly version: string; readonly image: string }[];
    readonly capabilities: { readonly enabledCapabilities: readonly string[] };
  };
}

export async function clusterVersion(cluster: TrustCluster): Promise<SeenVersion> {
  return trustKubectlJson<SeenVersion>(cluster, 'get', 'clusterversion', 'version');
}

export async function clusterOperator(cluster: TrustCluster, name: string): Promise<SeenStatus> {
  return trustKubectlJson<SeenStatus>(cluster, 'get', 'clusteroperator', name);
}

/** Waits until every operator is Available, not Progressing and not Degraded; the rows of kubectl below its header. */
export async function untilOperatorsRest(cluster: TrustCluster, seconds: number): Promise<readonly string[]> {
  let last = '';
  return eventually('that all operators are well and at rest', seconds, async () => {
    last = await trustKubectl(cluster, 'get', 'clusteroperators', '--no-headers');
    const rows = last.trim().split('\n');
    return rows.every((row) => / True +False +False /.test(row)) ? rows : undefined;
  }).catch((error: unknown) => {
    throw new Error(`${String(error)}\n${last}`);
  });
}

export async function patchVersion(cluster: TrustCluster, spec: object): Promise<string> {
  return trustKubectl(cluster, 'patch', 'clusterversion', 'version', '--type=merge', '-p', JSON.stringify({ spec }));
}

/** The value at a path of one object, as kubectl prints it; nothing where the object is not there. */
export async function valueAt(cluster: TrustCluster, object: readonly string[], path: string): Promise<string> {
  return trustKubectl(cluster, 'get', ...object, '--ignore-not-found', '-o', `jsonpath={${path}}`);
}

export async function applyFile(cluster: TrustCluster, name: string, objects: readonly object[]): Promise<void> {
  const file = join(cluster.folder, `${name}.json`);
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
  await trustKubectl(cluster, 'apply', '-f', file);
}

interface ReleaseInfo {
  readonly version: string;
  readonly images: readonly { readonly tag: string }[];
}

export async function releaseInfo(): Promise<ReleaseInfo> {
  return JSON.parse(await cli('release', 'info', '-o', 'json')) as ReleaseInfo;
}

export const nodeInImage = '/usr/local/lib/firstlight/bin/node';

/** A container of the image that every machine has, which runs this script. */
export async function scriptContainer(script: string): Promise<object> {
  const { images } = await releaseInfo();
  const image = images.find(({ tag }) => tag.includes('/firstlight:'))?.tag ?? '';
  return { name: 'one', image, imagePullPolicy: 'Never', command: [nodeInImage, '-e', script] };
}

/** Ports of the host's loopback, at the distances from that of the API which docs/local-platform.md gives. */
export function hostPorts(cluster: TrustCluster): {
  readonly http: number;
  readonly https: number;
  readonly push: number;
} {
  const [, port = ''] =
    /server: https:\/\/127\.0\.0\.1:(\d+)/.exec(readFileSync(trustKubeconfig(cluster), 'utf8')) ?? [];
  const first = Number(port) - 16_443;
  return { http: first + 18_080, https: first + 18_443, push: first + 15_000 };
}

/** `apps.<cluster>.<domain>`. */
export async function appsDomain(cluster: TrustCluster): Promise<string> {
  return valueAt(cluster, ['ingresses.config.openshift.io', 'cluster'], '.spec.domain');
}

export interface ToolOutcome {
  /** 0 when it went well. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A tool of the host. */
export async function tool(program: string, ...args: readonly string[]): Promise<ToolOutcome> {
  return new Promise((done) => {
    execFile(program, args, { timeout: 60_000 }, (error, stdout, stderr) => {
      done({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr });
    });
  });
}
