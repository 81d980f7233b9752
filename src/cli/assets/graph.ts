// `firstlight graph`
import { graphData, toGraphviz, toMermaid } from '../../assets/graph.ts';
import { targets } from '../../assets/targets.ts';
import type { CommandBody } from '../frame/verb.ts';

export const graph: CommandBody = async ({ options }) => {
  const data = graphData(targets);
  return { data, text: options['format'] === 'mermaid' ? toMermaid(data) : toGraphviz(data) };
};
