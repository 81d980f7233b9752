// `firstlight machine-config explain`
import { machineConfigErrors } from '../../machine-config/errors.ts';
import { type Contribution, type EntryExplanation, explainAll, explainNamed } from '../../machine-config/explain.ts';
import type { RenderedPool } from '../../machine-config/render.ts';
import { alignColumns } from '../frame/columns.ts';
import { argument } from '../frame/option.ts';
import { defineVerb } from '../frame/verb.ts';
import { fromOption, poolArgument } from './options.ts';

export const machineConfigExplainVerb = defineVerb({
  args: { pool: poolArgument, name: argument('a path, unit, drop-in (unit.d/name), user or kernel argument') },
  options: { from: fromOption },
  examples: [
    'firstlight machine-config explain master /etc/kubernetes/kubelet-configuration.yaml',
    'firstlight machine-config explain worker kubelet.service.d/20-logging.conf',
  ],
  run: async (invocation) => {
    const { nearestName } = await import('../frame/nearest-name.ts');
    const { loadInput, notesText, renderNamed } = await import('./input.ts');
    const { pool, name } = invocation.args;
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
  },
});

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
  return `${kind} ${name} is on every machine of pool ${rendered.pool} (${rendered.name})\n${alignColumns(rows, '  ')}`;
}
