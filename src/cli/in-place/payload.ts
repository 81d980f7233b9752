// `firstlight ipb payload`
import { option, text } from '../frame/option.ts';
import { typedPath } from '../frame/paths.ts';
import { defineVerb } from '../frame/verb.ts';
import { nodeArgument } from './options.ts';

export const inPlacePayloadVerb = defineVerb({
  description: [
    'Makes the payload of a node on this workstation, as the payload service of the cluster makes it: bootstrap.sh, the',
    'ansible playbooks of stage A (packages, kernel, hardening, logs) and stage B (container runtime, kubelet, their',
    'configuration from the rendered MachineConfig of the pool), a manifest with worker, cluster, region and the digest',
    'of every file, and its signature by the key of the config server. With --out it is written, as secret as a',
    'kubeconfig: it holds a token with which one machine can join. Without it only the contents are listed.',
  ].join(' '),
  args: { node: nodeArgument },
  options: {
    out: option('--out <file>', 'write the tar.gz there, for the owner alone', text),
    workerId: option('--worker-id <id>', 'the worker that it is made for (default: the name of the node)', text),
    clusterId: option('--cluster-id <id>', 'the cluster that it is made for (default: this one)', text),
    region: option('--region <name>', 'the region that it is made for (default: local)', text),
  },
  examples: ['firstlight ipb payload worker-0', 'firstlight ipb payload worker-0 --region eu-1 --out worker-0.tar.gz'],
  run: async ({ host, global, signal, args, options }) => {
    const { connectCluster } = await import('../../cluster/cluster-kubeconfig.ts');
    const { makePayloadFor } = await import('../../cluster/in-place/make-payload.ts');
    const { listPayload } = await import('../../in-place/payload/verify-payload.ts');
    const { generatedBy } = await import('../frame/program.ts');
    const { workerId, clusterId, region } = options;
    const ids = {
      ...(workerId === undefined ? {} : { workerId }),
      ...(clusterId === undefined ? {} : { clusterId }),
      ...(region === undefined ? {} : { region }),
    };
    await using client = await connectCluster(host, global.dir);
    const made = await makePayloadFor({ host, client, signal }, { node: args.node, ids, dir: global.dir, generatedBy });
    if (options.out !== undefined) await host.files.write(typedPath(host, options.out), made.archive, { mode: 0o600 });
    const manifest = await listPayload(made.archive);
    const sizeBytes = made.archive.length;
    const files = Object.entries(manifest.files).map(([path, { sha256 }]) => `  ${sha256.slice(0, 12)}  ${path}`);
    return {
      data: { ...manifest, sizeBytes, ...(options.out === undefined ? {} : { written: options.out }) },
      text: [
        `payload of ${made.config} for worker ${made.ids.workerId}, cluster ${made.ids.clusterId}, region ${made.ids.region}`,
        ...files,
        `${options.out === undefined ? 'not written' : `written to ${options.out}`}, ${sizeBytes} bytes`,
        '',
      ].join('\n'),
    };
  },
});
