// `firstlight kubectl …`: the release's own kubectl, at the cluster of this folder. Its exit code is ours.
import { join } from 'node:path';
import { defineVerb } from '../frame/verb.ts';

export const kubectlVerb = defineVerb({
  description: 'Everything after the word is kubectl’s; --dir comes before its first word.',
  passesThrough: true,
  examples: ['firstlight kubectl get nodes -o wide', 'firstlight kubectl --dir lab get pods -A'],
  run: async ({ host, global, passedOn, signal }) => {
    const { kubeconfigFile } = await import('../../cluster/cluster-kubeconfig.ts');
    const { partPrograms } = await import('../../release/machine-image.ts');
    const config = await kubeconfigFile(host, global.dir);
    const program = join(await partPrograms(host, 'kubernetes'), 'kubectl');
    const result = await host.processes.runInteractive(program, passedOn, { env: { KUBECONFIG: config }, signal });
    return { data: { code: result.code ?? null }, text: '', exit: result.code ?? 1 };
  },
});
