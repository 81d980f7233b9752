// `firstlight kubectl …`: the release's own kubectl, at the cluster of this folder. Its exit code is ours.
import { join } from 'node:path';
import { kubeconfigFile } from '../../cluster/cluster-kubeconfig.ts';
import { partPrograms } from '../../release/machine-image.ts';
import type { CommandBody } from '../frame/verb.ts';

export const kubectl: CommandBody = async ({ host, global, args, signal }) => {
  const config = await kubeconfigFile(host, global.dir);
  const program = join(await partPrograms(host, 'kubernetes'), 'kubectl');
  const result = await host.processes.runInteractive(program, args, { env: { KUBECONFIG: config }, signal });
  return { data: { code: result.code ?? null }, text: '', exit: result.code ?? 1 };
};
