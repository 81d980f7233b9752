// `firstlight machine-config diff`
import { resolve } from 'node:path';
import { z } from 'zod';
import type { ConfigChange, Difference } from '../../machine-config/diff.ts';
import { diffSpecs } from '../../machine-config/diff.ts';
import { actionText } from '../../machine-config/disruption.ts';
import { machineConfigErrors } from '../../machine-config/errors.ts';
import type { MachineConfigSpec } from '../../machine-config/machine-config.ts';
import { readObjects } from '../../machine-config/read-objects.ts';
import { readDocuments } from '../../source-text/documents.ts';
import { mistakeText } from '../../source-text/mistake.ts';
import type { CommandBody, Invocation } from '../frame/verb.ts';
import { cliErrors } from '../frame/errors.ts';
import { loadFolders, renderNamed, table } from './input.ts';

const options = z.looseObject({ pool: z.string() });

interface Side {
  readonly name: string;
  readonly spec: MachineConfigSpec;
}

export const machineConfigDiff: CommandBody = async (invocation) => {
  const { pool } = options.parse(invocation.options);
  const [before = '', after = ''] = invocation.args;
  const [older, newer] = [await readSide(invocation, before, pool), await readSide(invocation, after, pool)];
  const difference = diffSpecs(older.spec, newer.spec);
  return {
    data: { before: older.name, after: newer.name, ...difference },
    text: differenceText(older, newer, difference),
  };
};

async function readSide(invocation: Invocation, argument: string, pool: string): Promise<Side> {
  const { host } = invocation;
  const path = resolve(host.environment.workingFolder, argument);
  if ((await host.files.facts(path))?.kind !== 'file') {
    const rendered = renderNamed(await loadFolders(invocation, [path]), pool);
    return { name: rendered.name, spec: rendered.machineConfig.spec };
  }
  const { documents, mistakes } = readDocuments(argument, await host.files.readText(path));
  const objects = readObjects(documents);
  const errors = [...mistakes, ...objects.mistakes].filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw machineConfigErrors.UNREADABLE({ mistakes: errors.map((error) => mistakeText(error)) });
  const [machineConfig, another] = objects.machineConfigs;
  if (machineConfig === undefined || another !== undefined) {
    const reason = `${argument} holds ${objects.machineConfigs.length} MachineConfigs; name a file with one, or a folder`;
    throw cliErrors.USAGE({ reason, command: 'firstlight machine-config diff' });
  }
  return { name: machineConfig.metadata.name, spec: machineConfig.spec };
}

const signs: Readonly<Record<ConfigChange['change'], string>> = { added: '+', removed: '-', changed: '~' };

function differenceText(before: Side, after: Side, { changes, actions, needsReboot }: Difference): string {
  if (changes.length === 0) return `${before.name} and ${after.name} say the same\n`;
  const rows = changes.map(({ kind, name, change, fields, disruption }) => [
    signs[change],
    kind,
    fields.length === 0 ? name : `${name} (${fields.join(', ')})`,
    disruption.actions.map((action) => actionText(action)).join(', '),
    disruption.why,
  ]);
  const isFirstBootOnly = actions.some(({ kind }) => kind === 'new-machines-only');
  const live = actions.filter(({ kind }) => kind !== 'new-machines-only').map((action) => actionText(action));
  const verdict = needsReboot
    ? 'A machine has to reboot for this.'
    : `No reboot: ${live.join(', ') || 'nothing to do'}.`;
  const refused = isFirstBootOnly ? ' What is for new machines only cannot be brought to running ones.' : '';
  return `${before.name} → ${after.name}\n\n${table(rows)}\n${verdict}${refused}\n`;
}
