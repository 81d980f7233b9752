// `firstlight graph`
import { choiceOf, optionWithDefault } from '../frame/option.ts';
import { defineVerb } from '../frame/verb.ts';

export const graphVerb = defineVerb({
  options: {
    format: optionWithDefault('--format <format>', 'the language of the drawing', choiceOf(['dot', 'mermaid']), 'dot'),
  },
  examples: [
    'firstlight graph | dot -Tsvg > assets.svg',
    'firstlight graph --format mermaid',
    'firstlight graph -o json',
  ],
  run: async ({ options }) => {
    const { graphData, toGraphviz, toMermaid } = await import('../../assets/graph.ts');
    const { targets } = await import('../../assets/targets.ts');
    const data = graphData(targets);
    return { data, text: options.format === 'mermaid' ? toMermaid(data) : toGraphviz(data) };
  },
});
