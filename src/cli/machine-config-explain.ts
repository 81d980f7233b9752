// `firstlight machine-config explain`
import { machineConfigErrors } from '../machine-config/errors.ts';
import type { Contribution, Explanation } from '../machine-config/explain.ts';
import { explain, explainAll } from '../machine-config/explain.ts';
import type { RenderedPool } from '../machine-config/render.ts';
import type { CommandBody } from './command.ts';
import { loadInput, notesText, renderNamed } from './machine-config-input.ts';
import { nearestName } from './nearest.ts';

export const machineConfigExplain: CommandBody = async (invocation) => {
  const [pool = '', name = ''] = invocation.args;
  const objects = await loadInput(invocation);
  const rendered = renderNamed(objects, pool);
  const explanations = explain(rendered, name);
  if (explanations.length === 0) {
    const similar = nearestName(
      name,
      explainAll(rendered).map((found) => found.name),
    );
    throw machineConfigErrors.NOT_THERE({ pool, name, similar: similar === undefined ? [] : [similar] });
  }
  return {
    data: { pool, rendered: rendered.name, explanations },
    text: `${explanations.map((one) => explanationText(rendered, one)).join('\n')}${notesText(objects)}`,
  };
};

function explanationText(rendered: RenderedPool, { kind, name, contributions }: Explanation): string {
  const last = contributions.length - 1;
  const lines = contributions.map((contribution, index) => contributionText(contribution, index === last));
  return `${kind} ${name} is on every machine of pool ${rendered.pool} (${rendered.name})\n${lines.join('')}`;
}

function contributionText({ machineConfig, sets, overridden }: Contribution, isLast: boolean): string {
  const lost = overridden.map(({ field, by }) => `${field} overridden by ${by}`);
  const tail = lost.length > 0 ? `; ${lost.join(', ')}` : isLast ? '' : '; still in force';
  return `  ${machineConfig}  sets ${sets.join(', ') || 'nothing but its name'}${tail}\n`;
}
