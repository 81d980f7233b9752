// The fetch stage of the real Ignition, as a machine runs it at its first boot.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FileNode, IgnitionConfig } from '../../src/ignition/config.ts';
import { dataUrl } from '../../src/ignition/data-url.ts';
import { readInlineContents } from '../../src/ignition/inline-contents.ts';
import { serialize } from '../../src/ignition/serialize.ts';
import type { SpecVersion } from '../../src/ignition/spec-version.ts';
import { oracleProgram } from './programs.ts';

export interface PointerOptions {
  readonly token: string;
  readonly pool: string;
  readonly caPem: string;
  /** Where the config server is. */
  readonly server: string;
  /** The spec that the pointer itself is written in. */
  readonly spec?: SpecVersion;
  /** Seconds; without it Ignition asks for ever. */
  readonly giveUp?: number;
}

export type Pointer = Omit<PointerOptions, 'server'> & { readonly port: number };

export interface Fetched {
  readonly code: number | null;
  readonly output: string;
  readonly config: IgnitionConfig | undefined;
}

export function pointerConfig({ token, pool, caPem, server, giveUp, spec = '3.2.0' }: PointerOptions): IgnitionConfig {
  const httpHeaders = [{ name: 'Authorization', value: `Bearer ${token}` }];
  return {
    ignition: {
      version: spec,
      config: { merge: [{ source: `${server}/config/${pool}`, httpHeaders }] },
      security: { tls: { certificateAuthorities: [{ source: dataUrl(caPem) }] } },
      ...(giveUp === undefined ? {} : { timeouts: { httpTotal: giveUp } }),
    },
  };
}

export function fetchPointer(given: Pointer): Promise<Fetched> {
  const folder = mkdtempSync(join(tmpdir(), 'firstlight-ignition-'));
  writeFileSync(
    join(folder, 'config.ign'),
    serialize(pointerConfig({ ...given, server: `https://localhost:${given.port}` })),
  );
  mkdirSync(join(folder, 'root'));
  const args = ['--root', join(folder, 'root'), '--platform', 'file', '--stage', 'fetch', '--log-to-stdout'];
  const files = [
    '--config-cache',
    join(folder, 'cache'),
    '--state-file',
    join(folder, 'state'),
    '--neednet',
    join(folder, 'net'),
  ];
  const child = spawn(oracleProgram('ignition'), [...args, ...files], {
    env: {
      ...process.env,
      IGNITION_CONFIG_FILE: join(folder, 'config.ign'),
      IGNITION_SYSTEM_CONFIG_DIR: join(folder, 'none'),
    },
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += String(chunk)));
  child.stderr.on('data', (chunk) => (output += String(chunk)));
  return new Promise((resolve) => {
    child.on('close', (code) => {
      const config =
        code === 0 ? (JSON.parse(readFileSync(join(folder, 'cache'), 'utf8')) as IgnitionConfig) : undefined;
      rmSync(folder, { recursive: true, force: true });
      resolve({ code, output, config });
    });
  });
}

export function fileAt(config: IgnitionConfig | undefined, path: string): string {
  const file = config?.storage?.files?.find((one: FileNode) => one.path === path);
  const read = readInlineContents(file?.contents ?? {});
  return read.status === 'inline' ? Buffer.from(read.bytes).toString('utf8') : read.status;
}
