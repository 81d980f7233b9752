// Clients of a config server, by hand and many at once: a client library would cost more than the servers that are measured.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { connect, type SecureContext, type TLSSocket } from 'node:tls';
import { type Lab, tokens } from '../test/oracle/config-server-lab.ts';

export const machines = 1_000;

export interface Contestant {
  readonly name: string;
  readonly port: number;
  readonly process: ChildProcess;
}

interface Started {
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

export async function start(lab: Lab, name: string, { args, environment }: Started): Promise<Contestant> {
  const path = lab.at(`log/${name.replaceAll(/\W/g, '-')}`);
  // A file, as the journal is on a machine: a pipe would make the reader part of what is measured.
  const log = openSync(path, 'w');
  const env = { ...process.env, ...environment };
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', log], env });
  closeSync(log);
  const endMs = performance.now() + 20_000;
  for (;;) {
    const port = /"port":(\d+)/.exec(readFileSync(path, 'utf8'))?.[1];
    if (port !== undefined) return { name, port: Number(port), process: child };
    if (performance.now() > endMs || child.exitCode !== null) throw new Error(readFileSync(path, 'utf8'));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export function memoryMb({ process: { pid } }: Contestant, field: 'VmHWM' | 'VmRSS'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
}

const requestText = `GET /config/master HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${tokens.master}\r\nAccept: application/vnd.coreos.ignition+json;version=3.5.0, */*;q=0.1\r\nUser-Agent: Ignition/2.24.0\r\n\r\n`;

export interface Client {
  readonly context: SecureContext;
  readonly port: number;
}

export function openConnection({ context, port }: Client, from = '127.0.0.1'): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const raw = connectTcp({ host: '127.0.0.1', port, localAddress: from, noDelay: true });
    raw.on('error', reject);
    const socket = connect({ socket: raw, secureContext: context, servername: 'localhost' }, () => resolve(socket));
    socket.on('error', reject);
  });
}

/** One request and the whole of its answer, by hand: a client library would cost more than the servers. */
export function exchange(socket: TLSSocket): Promise<number> {
  return new Promise((resolve, reject) => {
    let wanted = -1;
    let got = 0;
    let status = 0;
    const onData = (chunk: Buffer): void => {
      if (wanted < 0) {
        const end = chunk.indexOf('\r\n\r\n');
        const head = chunk.toString('latin1', 0, end);
        status = Number(head.slice(9, 12));
        wanted = end + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1]);
      }
      got += chunk.length;
      if (got < wanted) return;
      socket.off('data', onData);
      socket.off('close', onClose);
      resolve(status);
    };
    const onClose = (): void => reject(new Error('closed in the middle'));
    socket.on('data', onData);
    socket.once('close', onClose);
    socket.write(requestText);
  });
}

export interface Rush {
  readonly served: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly wholeMs: number;
}

/** Every machine from an address of its own, all in the same moment, and none asks twice. */
export async function rush(contestant: Contestant, context: SecureContext): Promise<Rush> {
  const startMs = performance.now();
  const times = await Promise.all(
    Array.from({ length: machines }, async (_, index) => {
      const client = { context, port: contestant.port };
      const socket = await openConnection(client, `127.1.${index >> 8}.${index & 255 || 1}`).catch(() => undefined);
      const status = socket === undefined ? 0 : await exchange(socket).catch(() => 0);
      socket?.destroy();
      return status === 200 ? performance.now() - startMs : undefined;
    }),
  );
  const served = times.filter((time) => time !== undefined).sort((one, other) => one - other);
  const at = (share: number): number =>
    served[Math.min(served.length - 1, Math.floor(served.length * share))] ?? Number.NaN;
  return { served: served.length, p50Ms: at(0.5), p99Ms: at(0.99), wholeMs: served.at(-1) ?? Number.NaN };
}
