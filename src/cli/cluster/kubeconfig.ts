// `firstlight kubeconfig`
import { delimiter, join } from 'node:path';
import { flag } from '../frame/option.ts';
import { defineVerb, type Invocation } from '../frame/verb.ts';

export const kubeconfigVerb = defineVerb({
  description:
    'The certificates of the administrator and of the break-glass administrator live a year. With --renew, those of which seventy per cent has passed are made anew by the signer in tls/. That needs no cluster, so it also helps when they have ended.',
  options: {
    merge: flag('--merge', 'add the cluster to $KUBECONFIG or ~/.kube/config, and make it current'),
    renew: flag('--renew', 'renew the certificates of administrators that are near their end'),
  },
  examples: [
    'export KUBECONFIG=$(firstlight kubeconfig)',
    'firstlight kubeconfig --merge',
    'firstlight kubeconfig --renew --merge',
  ],
  run: async (invocation) => {
    const { host, global, options } = invocation;
    const { kubeconfigFile } = await import('../../cluster/cluster-kubeconfig.ts');
    const path = await kubeconfigFile(host, global.dir);
    const renewed = options.renew ? await renew(invocation) : undefined;
    const merged = options.merge ? await merge(invocation, path) : undefined;
    const text = [renewed?.text, merged?.text].join('');
    return { data: { path, ...renewed?.data, ...merged?.data }, text: text === '' ? `${path}\n` : text };
  },
});

interface Done {
  readonly data: object;
  readonly text: string;
}

async function renew({ host, signal, global, emit }: Invocation): Promise<Done> {
  const { renewKubeconfigs } = await import('../../cluster/renew-kubeconfigs.ts');
  const certificates = await renewKubeconfigs({ host, dir: global.dir, emit, signal });
  const lines = certificates.map(({ user, kubeconfig, notAfter, isRenewed }) => {
    const did = isRenewed ? 'is renewed and lives until' : 'needs no renewal and lives until';
    return `${kubeconfig}: the certificate of ${user} ${did} ${notAfter.toISOString().slice(0, 10)}\n`;
  });
  return { data: { certificates }, text: lines.join('') };
}

async function merge({ host, global }: Invocation, path: string): Promise<Done> {
  const { mustFindCluster } = await import('../../cluster/find-cluster.ts');
  const { mergeKubeconfig } = await import('../../cluster/merge-kubeconfig.ts');
  const { name } = await mustFindCluster(host, global.dir);
  const { variables, homeFolder } = host.environment;
  const [first = ''] = (variables['KUBECONFIG'] ?? '').split(delimiter);
  const into = first === '' ? join(homeFolder, '.kube/config') : first;
  await mergeKubeconfig(host, { from: path, into, name });
  return { data: { into, context: name }, text: `${into} has the context ${name}, and it is current\n` };
}
