// The fetch stage of the real Ignition, as a machine runs it at its first boot.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config, File } from '../../src/ignition/config.ts';
import { dataUrl } from '../../src/ignition/data-url.ts';
import { readInlineContents } from '../../src/ignition/inline-contents.ts';
import { serialize } from '../../src/ignition/serialize.ts';
import { oracleProgram } from './programs.ts';

export interface Pointer {
  readonly token: string;
  readonly pool: string;
  readonly caPem: string;
  readonly port: number;
  /** Seconds; without it Ignition asks for ever. */
  readonly giveUp?: number;
}

export interface Fetched {
  readonly code: number | null;
  readonly output: string;
  readonly config: Config | undefined;
}

function pointerConfig({ token, pool, caPem, port, giveUp }: Pointer): Config {
  const httpHeaders = [{ name: 'Authorization', value: `Bearer ${token}` }];
  return {
    ignition: {
      version: '3.2.0',
      config: { merge: [{ source: `https://localhost:${port}/config/${pool}`, httpHeaders }] },
      security: { tls: { certificateAuthorities: [{ source: dataUrl(caPem) }] } },
      ...(giveUp === undefined ? {} : { timeouts: { httpTotal: giveUp } }),
    },
  };
}

export function fetchPointer(given: Pointer): Promise<Fetched> {
  const folder = mkdtempSync(join(tmpdir(), 'firstlight-ignition-'));
  writeFileSync(join(folder, 'config.ign'), serialize(pointerConfig(given)));
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
      const config = code === 0 ? (JSON.parse(readFileSync(join(folder, 'cache'), 'utf8')) as Config) : undefined;
      rmSync(folder, { recursive: true, force: true });
      resolve({ code, output, config });
    });
  });
}

export function fileAt(config: Config | undefined, path: string): string {
  const file = config?.storage?.files?.find((one: File) => one.path === path);
  const read = readInlineContents(file?.contents ?? {});
  return read.status === 'inline' ? Buffer.from(read.bytes).toString('utf8') : read.status;
}
