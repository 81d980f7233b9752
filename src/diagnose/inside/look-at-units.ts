// How the units of a node are, with the last words of those that do not run.
import { hostErrors } from '../../host/errors.ts';
import type { Host } from '../../host/host.ts';
import { isError } from '../../errors/firstlight-error.ts';
import type { InsideFacts } from './inside-facts.ts';

type Unit = InsideFacts['units'][number];

const units = ['containerd', 'kubelet', 'firstlight-agent', 'machine-config-server', 'bootkube', 'kube-proxy'].map(
  (name) => `${name}.service`,
);

export async function lookAtUnits(host: Host): Promise<readonly Unit[]> {
  const properties = '--property=Id,LoadState,ActiveState,SubState,NRestarts';
  const text = await said(host, 'systemctl', ['show', properties, ...units]);
  const found = text
    .split('\n\n')
    .map((block) => new Map(block.split('\n').map((line) => [line.split('=')[0] ?? '', line.replace(/^[^=]*=/, '')])))
    .filter((unit) => unit.get('LoadState') === 'loaded');
  return Promise.all(
    found.map(async (unit) => {
      const name = unit.get('Id') ?? '';
      const active = unit.get('ActiveState') ?? '';
      const isWell = active === 'active' || active === 'inactive';
      const lastWords = isWell ? '' : await said(host, 'journalctl', ['-q', '-o', 'cat', '-n', '1', '-u', name]);
      return { name, active, sub: unit.get('SubState') ?? '', restarts: Number(unit.get('NRestarts') ?? 0), lastWords };
    }),
  );
}

async function said(host: Host, program: string, args: readonly string[]): Promise<string> {
  try {
    return (await host.processes.run(program, args, { timeoutMs: 5_000 })).stdout.trim();
  } catch (error) {
    if (isError(error, hostErrors.PROGRAM_MISSING)) return '';
    throw error;
  }
}
