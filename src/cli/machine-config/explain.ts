// `firstlight machine-config explain`
import { machineConfigErrors } from '../../machine-config/errors.ts';
import type { Contribution, EntryExplanation } from '../../machine-config/explain.ts';
import { explainNamed, explainAll } from '../../machine-config/explain.ts';
import type { RenderedPool } from '../../machine-config/render.ts';
import type { CommandBody } from '../frame/verb.ts';
import { loadInput, notesText, renderNamed, table } from './input.ts';
import { nearestName } from '../frame/nearest-name.ts';

export const machineConfigExplain: CommandBody = async (invocation) => {
  const [pool = '', name = ''] = invocation.args;
  const objects = await loadInput(invocation);
  const rendered = renderNamed(objects, pool);
  const explanations = explainNamed(rendered, name);
  if (explanations.length === 0) {
    const similar = nearestName(
      name,
      explainAll(rendered).map((found) => found.name),
    );
    throw machineConfigErrors.NOT_THERE({ pool, name, similar: similar === undefined ? [] : [similar] });
  }
  const withOrigins = explanations.map(({ contributions, ...explanation }) => ({
    ...explanation,
    contributions: contributions.map((one) => ({ ...one, origin: objects.originOf(one.machineConfig) })),
  }));
  return {
    data: { pool, rendered: rendered.name, explanations: withOrigins },
    text: `${withOrigins.map((one) => explanationText(rendered, one)).join('\n')}${notesText(objects)}`,
  };
};

interface Located extends EntryExplanation {
  readonly contributions: readonly (Contribution & { readonly origin: string })[];
}

function explanationText(rendered: RenderedPool, { kind, name, contributions }: Located): string {
  const rows = contributions.map(({ machineConfig, origin, sets, overridden }) => [
    machineConfig,
    origin,
    `sets ${sets.join(', ') || 'nothing but its name'}`,
    overridden.map(({ field, by }) => `${field} overridden by ${by}`).join(', '),
  ]);
  return `${kind} ${name} is on every machine of pool ${rendered.pool} (${rendered.name})\n${table(rows)}`;
}
