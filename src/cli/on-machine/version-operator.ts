// `firstlight version-operator run`: what the pod of openshift-cluster-version/cluster-version-operator runs, until it
// is stopped.
import { option, text } from '../frame/option.ts';
import { defineVerb } from '../frame/verb.ts';
import { neededOption } from './needed-option.ts';

const words = 'version-operator run';

export const versionOperatorVerb = defineVerb({
  description:
    'Applies the manifests of a release in their order, keeps them true, and reports on the operators of the cluster. ' +
    'Of several, the one that holds the Lease works.',
  options: {
    payload: option('--payload <folder>', 'the root of the release image', text),
    releaseImage: option('--release-image <reference>', 'the release image, by digest', text),
    node: option('--node <name>', 'the machine that this process runs on', text),
  },
  examples: ['firstlight version-operator run --payload=/release --release-image=REFERENCE --node=master-0'],
  run: async ({ host, terminal, options, signal }) => {
    const payloadRoot = neededOption(words, '--payload FOLDER', options.payload);
    const releaseImage = neededOption(words, '--release-image REFERENCE', options.releaseImage);
    const node = neededOption(words, '--node NAME', options.node);
    const { connectAsPod, runVersionOperator } = await import('../../version-operator/run-operator.ts');
    const { operators } = await import('../../operators/operators.ts');
    const log = (line: string): void => terminal.err(`${line}\n`);
    await using client = await connectAsPod(host);
    try {
      await runVersionOperator(host, { client, payloadRoot, releaseImage, node, operators, signal, log });
    } catch (error) {
      // A signal is the normal end of a pod, not a failure.
      if (!signal.aborted) throw error;
    }
    return { data: {}, text: '' };
  },
});
