// `firstlight render`: what our image answers in the container of a stage.
import { argument, optionWithDefault, text } from '../frame/option.ts';
import { defineVerb } from '../frame/verb.ts';

export const renderVerb = defineVerb({
  description:
    'Renders the manifests of one component, as an operator of the original does. bootkube stage N --in-container runs it in a container of the release’s own image, where what the stage reads is mounted read-only and the output folder is the only one that can be written.',
  args: { component: argument('the name of a stage that renders: etcd, kube-apiserver, ingress, …') },
  options: {
    assetInputDir: optionWithDefault(
      '--asset-input-dir <folder>',
      'keys and certificates that the component reads',
      text,
      '/assets/tls',
    ),
    assetOutputDir: optionWithDefault(
      '--asset-output-dir <folder>',
      'where its files go; whatever else is there is removed',
      text,
      '/assets/output',
    ),
  },
  examples: ['firstlight render etcd --asset-input-dir=/assets/tls --asset-output-dir=/assets/etcd-bootstrap'],
  run: async ({ host, emit, args, options }) => {
    const { renderComponent } = await import('../../bootkube/render-component.ts');
    const files = await renderComponent({
      host,
      emit,
      component: args.component,
      inputFolder: options.assetInputDir,
      outputFolder: options.assetOutputDir,
    });
    return {
      data: { component: args.component, folder: options.assetOutputDir, files },
      text: `${args.component}: ${files.length} files in ${options.assetOutputDir}\n`,
    };
  },
});
