// `firstlight explain stage [NAME]`: everything is read from the stages themselves and from the release that was built
// last, which says what renders a component.
import { originalCommands } from '../../bootkube/original-commands.ts';
import type { NumberedStage, RenderStage } from '../../bootkube/render-stage.ts';
import { stages } from '../../bootkube/stages.ts';
import { isError } from '../../errors/firstlight-error.ts';
import type { Host } from '../../host/host.ts';
import { currentRelease } from '../../release/current.ts';
import { releaseErrors } from '../../release/errors.ts';
import type { ReleaseManifest } from '../../release/release-manifest.ts';
import { alignColumns } from '../frame/columns.ts';
import { cliErrors } from '../frame/errors.ts';
import { nearestName } from '../frame/nearest-name.ts';
import type { CommandResult } from '../frame/verb.ts';

type ImageVariables = ReleaseManifest['imageVariables'];

export async function explainStage(host: Host, name: string | undefined): Promise<CommandResult> {
  const variables = await builtVariables(host);
  if (name === undefined) {
    const data = stages.map((stage) => ({ ...plain(stage), renders: renderer(stage, variables) }));
    return { data, text: alignColumns(data.map(({ number, name: each, renders }) => [String(number), each, renders])) };
  }
  const stage = stages.find((each) => each.name === name || String(each.number) === name);
  if (stage === undefined) {
    const names = stages.map((each) => each.name);
    const nearest = nearestName(name, names);
    const reason = `there is no stage ${name}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
    throw cliErrors.USAGE({ reason, command: 'firstlight explain stage' });
  }
  const data = { ...plain(stage), renders: renderer(stage, variables) };
  const rows = [
    ['why', data.why],
    ['renders', data.renders],
    ['reads', data.inputs.join(', ') || 'nothing'],
    ['writes', data.outputs.join(', ') || 'nothing'],
    ...data.checks.map((check, index) => [index === 0 ? 'validates' : '', check]),
  ];
  const original = data.original.replaceAll(/^/gm, '    ');
  return { data, text: `${data.number} ${data.name}\n\n${alignColumns(rows, '  ')}\n  original\n${original}\n` };
}

function plain({ number, name, why, inputs, outputs, verify }: NumberedStage) {
  const checks = verify.map((check) => check.name);
  return { number, name, why, inputs, outputs, checks, original: originalCommands[number] ?? '' };
}

/** Undefined where no release is built yet. */
async function builtVariables(host: Host): Promise<ImageVariables | undefined> {
  try {
    return (await currentRelease(host)).manifest.imageVariables;
  } catch (error) {
    if (isError(error, releaseErrors.NOT_BUILT) || isError(error, releaseErrors.ENTRY_DAMAGED)) return undefined;
    throw error;
  }
}

function renderer(stage: NumberedStage, variables: ImageVariables | undefined): string {
  const { render, variable } = stage as Partial<RenderStage>;
  if (render === undefined) return 'nothing: it starts what others rendered';
  if (variable === undefined) return 'bootkube itself';
  const row = variables?.[variable];
  if (row === undefined) return `what ${variable} names; no release is built here`;
  return row.renders === 'image'
    ? `${row.reference}, in a container`
    : `bootkube itself, as ${variable} names our image`;
}
