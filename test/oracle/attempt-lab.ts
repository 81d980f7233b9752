// Attempts in place without machines: objects in the real API, as the controller makes them, and curl as the machine that
// reports to the config servers of two masters.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import {
  type AttemptSecret,
  attemptKind,
  attemptName,
  type InPlaceSystem,
  inPlaceNamespace,
  type ProgressEvent,
  progressPath,
} from '../../src/contract/in-place.ts';
import { realHost } from '../../src/host/real/real-host.ts';
import { inPlaceFactsObject, inPlaceObjects } from '../../src/in-place/manifests.ts';
import { newReporterToken } from '../../src/in-place/reporting/reporter-token.ts';
import type { Lab, LabServer } from './config-server-lab.ts';
import { applyTo } from './config-server-masters.ts';
import type { ControlPlaneProcesses } from './control-plane-processes.ts';

export const cluster = 'demo-1';
export const notAfter = new Date(Date.now() + 3_600_000).toISOString();

export interface Masters {
  readonly plane: ControlPlaneProcesses;
  readonly lab: Lab;
  readonly servers: readonly [LabServer, LabServer];
}

export type AttemptLab = ReturnType<typeof attemptLab>;

/** Applies the objects of the in-place bootstrapper. */
export function attemptLab(masters: Masters) {
  const { plane, lab } = masters;
  const serviceCa = lab.rootCa.certificatePem;
  const facts = { clusterId: cluster, serviceUrl: 'https://api-int.test:22623', serviceCa };
  const image = `registry.test/firstlight@sha256:${'0'.repeat(64)}`;
  const objects = [...inPlaceObjects(image), inPlaceFactsObject(facts)];
  applyTo(plane, ...objects.filter((object) => object.kind === 'CustomResourceDefinition'));
  applyTo(plane, ...objects);
  const ca = lab.at('root-ca.crt');
  writeFileSync(ca, serviceCa);
  return { ...masters, ca, ...clients(ca), ...attempts(plane) };
}

interface Asked {
  readonly status: number;
  readonly body: string;
}

function clients(ca: string) {
  const url = ({ port }: LabServer, path: string): string => `https://localhost:${port}${path}`;
  return {
    /** The last line of what it prints is the status. */
    curl: (server: LabServer, path: string, args: readonly string[] = [], input?: string): Asked => {
      const shared = ['-sS', '--max-time', '30', '--cacert', ca, '-w', '\n%{http_code}'];
      const given = input === undefined ? {} : { input };
      const { stdout } = spawnSync('curl', [...shared, ...args, url(server, path)], { encoding: 'utf8', ...given });
      const at = stdout.lastIndexOf('\n');
      return { status: Number(stdout.slice(at + 1)), body: stdout.slice(0, at) };
    },
    /** Does not block the test, for requests at the same moment. */
    curlLater: (server: LabServer, path: string, args: readonly string[]): Promise<string> => {
      const child = spawn('curl', ['-sS', '--cacert', ca, '-w', '%{http_code}', ...args, url(server, path)]);
      let out = '';
      child.stdout.on('data', (chunk: Buffer) => (out += String(chunk)));
      return new Promise((resolve) => child.once('close', () => resolve(out)));
    },
  };
}

function attempts(plane: ControlPlaneProcesses) {
  const kind = 'inplaceattempts.ipb.dev';
  const patchStatus = (name: string, status: object): void => {
    const patch = ['--subresource=status', '--type=merge', '-p', JSON.stringify({ status })];
    const { code, output } = plane.kubectl('patch', kind, name, ...patch);
    if (code !== 0) throw new Error(output);
  };
  return {
    patchStatus,
    /** An attempt, and a token for its reports. */
    makeAttempt: (node: string, attemptId: string, os: InPlaceSystem = 'rhcos') => {
      const name = attemptName(node, attemptId);
      const spec = { node, attemptId, os, notAfter, clusterId: cluster };
      applyTo(plane, { ...attemptKind, metadata: { name }, spec });
      const token = newReporterToken(realHost().random);
      const tokenDigest = createHash('sha256').update(token).digest('hex');
      patchStatus(name, { command: 'none', report: { tokenDigest } });
      return { token, path: progressPath(cluster, node, attemptId) };
    },
    reportOf: (node: string, attemptId: string) => {
      const name = attemptName(node, attemptId);
      const { output } = plane.kubectl('get', kind, name, '-o', 'jsonpath={.status.report}');
      return JSON.parse(output) as { readonly ackSeq: number; readonly events: readonly ProgressEvent[] };
    },
    makeSecret: (node: string, data: AttemptSecret): void => {
      const metadata = { name: `ipb-${node}`, namespace: inPlaceNamespace };
      applyTo(plane, { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', stringData: data });
    },
  };
}

export const as = (token: string): readonly string[] => ['-H', `Authorization: Bearer ${token}`];

export function post(token: string, event: object): readonly string[] {
  return [...as(token), '--data-binary', JSON.stringify(event)];
}

export function eventNumber(seq: number, more: Partial<ProgressEvent> = {}): ProgressEvent {
  const at = new Date(1_767_225_600_000 + seq).toISOString();
  const about = { phase: 'Preflight', status: 'ok', message: '', bootId: 'b', os: 'rhcos' } as const;
  return { seq, step: `s${seq}`, at, agentVersion: 'curl', ...about, ...more };
}

export const id = (n: number): string => `${String(n).repeat(8)}-1111-4111-8111-111111111111`;
