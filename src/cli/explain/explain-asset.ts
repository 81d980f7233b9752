// `firstlight explain asset [NAME]`: everything is read from the value of the asset; nothing is written twice.
import type { AnyAsset } from '../../assets/asset.ts';
import { inOrder, inputsOf, readersOf } from '../../assets/graph.ts';
import { targets } from '../../assets/targets.ts';
import { cliErrors } from '../frame/errors.ts';
import { nearestName } from '../frame/nearest-name.ts';
import type { CommandResult } from '../frame/verb.ts';

export function explainAsset(name: string | undefined): CommandResult {
  const all = inOrder(Object.values(targets).flat());
  if (name === undefined) {
    const width = Math.max(...all.map((asset) => asset.name.length));
    const text = all.map((asset) => `${asset.name.padEnd(width)}  ${asset.why}\n`).join('');
    return { data: all.map(({ name: each, why }) => ({ name: each, why })), text };
  }
  const found = all.find((asset) => asset.name === name || asset.outputs.includes(name));
  if (found === undefined) {
    const nearest = nearestName(
      name,
      all.map((asset) => asset.name),
    );
    const reason = `there is no asset ${name}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
    throw cliErrors.USAGE({ reason, command: 'firstlight explain asset' });
  }
  return describe(found, all);
}

function describe(asset: AnyAsset, all: readonly AnyAsset[]): CommandResult {
  const data = {
    name: asset.name,
    why: asset.why,
    files: asset.outputs,
    madeFrom: inputsOf(asset).map((input) => input.name),
    readBy: readersOf(asset, all).map((reader) => reader.name),
    neededUntil: asset.neededUntil,
  };
  const list = (names: readonly string[], none: string): string => (names.length === 0 ? none : names.join(', '));
  const text = [
    `${data.name}: ${data.why}`,
    '',
    `  files         ${list(data.files, 'none')}`,
    `  made from     ${list(data.madeFrom, 'nothing but time and chance')}`,
    `  read by       ${list(data.readBy, 'you, or a machine')}`,
    `  needed until  ${data.neededUntil}`,
    '',
  ];
  return { data, text: text.join('\n') };
}
