// `firstlight graph`
import { graphData, toGraphviz, toMermaid } from '../../assets/graph.ts';
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
    const { targets } = await import('../../assets/targets.ts');
    const data = graphData(targets);
    return { data, text: options.format === 'mermaid' ? toMermaid(data) : toGraphviz(data) };
  },
});
