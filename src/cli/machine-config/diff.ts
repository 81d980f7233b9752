// `firstlight machine-config diff`
import { type ConfigChange, type Difference, diffSpecs } from '../../machine-config/diff.ts';
import { actionText } from '../../machine-config/disruption.ts';
import { machineConfigErrors } from '../../machine-config/errors.ts';
import type { MachineConfigSpec } from '../../machine-config/machine-config.ts';
import { mistakeText } from '../../source-text/mistake.ts';
import { alignColumns } from '../frame/columns.ts';
import { cliErrors } from '../frame/errors.ts';
import { argument, optionWithDefault, text } from '../frame/option.ts';
import { typedPath } from '../frame/paths.ts';
import { defineVerb, type Invocation } from '../frame/verb.ts';

export const machineConfigDiffVerb = defineVerb({
  description:
    'Each side is a file with one rendered MachineConfig, or a folder of MachineConfigs that is rendered for the pool first.',
  args: { before: argument('a file or folder'), after: argument('a file or folder') },
  options: { pool: optionWithDefault('--pool <pool>', 'the pool to render folders for', text, 'worker') },
  examples: [
    'firstlight machine-config diff old/manifests new/manifests --pool master',
    'firstlight machine-config diff before.yaml after.yaml',
  ],
  run: async (invocation) => {
    const { args, options } = invocation;
    const older = await readSide(invocation, args.before, options.pool);
    const newer = await readSide(invocation, args.after, options.pool);
    const difference = diffSpecs(older.spec, newer.spec);
    return {
      data: { before: older.name, after: newer.name, ...difference },
      text: differenceText(older, newer, difference),
    };
  },
});

interface Side {
  readonly name: string;
  readonly spec: MachineConfigSpec;
}

async function readSide({ host }: Pick<Invocation, 'host'>, typed: string, pool: string): Promise<Side> {
  const path = typedPath(host, typed);
  if ((await host.files.facts(path))?.kind !== 'file') {
    const { loadFolders, renderNamed } = await import('./input.ts');
    const rendered = renderNamed(await loadFolders({ host }, [path]), pool);
    return { name: rendered.name, spec: rendered.machineConfig.spec };
  }
  const { readObjects } = await import('../../machine-config/read-objects.ts');
  const { readDocuments } = await import('../../source-text/documents.ts');
  const { documents, mistakes } = readDocuments(typed, await host.files.readText(path));
  const objects = readObjects(documents);
  const errors = [...mistakes, ...objects.mistakes].filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw machineConfigErrors.UNREADABLE({ mistakes: errors.map((error) => mistakeText(error)) });
  const [machineConfig, another] = objects.machineConfigs;
  if (machineConfig === undefined || another !== undefined) {
    const reason = `${typed} holds ${objects.machineConfigs.length} MachineConfigs; name a file with one, or a folder`;
    throw cliErrors.USAGE({ reason, command: 'firstlight machine-config diff' });
  }
  return { name: machineConfig.metadata.name, spec: machineConfig.spec };
}

const signs: Readonly<Record<ConfigChange['change'], string>> = { added: '+', removed: '-', changed: '~' };

function differenceText(before: Side, after: Side, { changes, actions, needsReboot }: Difference): string {
  if (changes.length === 0) return `${before.name} and ${after.name} say the same\n`;
  const rows = changeRows(changes);
  const isFirstBootOnly = actions.some(({ kind }) => kind === 'new-machines-only');
  const live = actions.filter(({ kind }) => kind !== 'new-machines-only').map((action) => actionText(action));
  const verdict = needsReboot
    ? 'A machine has to reboot for this.'
    : `No reboot: ${live.join(', ') || 'nothing to do'}.`;
  const refused = isFirstBootOnly ? ' What is for new machines only cannot be brought to running ones.' : '';
  return `${before.name} → ${after.name}\n\n${alignColumns(rows, '  ')}\n${verdict}${refused}\n`;
}

/** A row of a table per change: what changes, what it costs, and why. */
export function changeRows(changes: readonly ConfigChange[]): readonly (readonly string[])[] {
  return changes.map(({ kind, name, change, fields, disruption }) => [
    signs[change],
    kind,
    fields.length === 0 ? name : `${name} (${fields.join(', ')})`,
    disruption.actions.map((action) => actionText(action)).join(', '),
    disruption.why,
  ]);
}
