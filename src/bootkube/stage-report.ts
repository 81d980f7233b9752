// What there is to say about one stage: what it is for, what the original runs there, what runs here, what it wrote
// with the difference to the run before, and what was validated. It only reads. Of a file that may hold a secret it has
// the name and the digest, never a byte.
import { join } from 'node:path';
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import { bootkubeJournal } from '../contract/bootstrap-paths.ts';
import { readJournal } from '../workflow/journal.ts';
import type { Digests, StageRecord } from '../workflow/stage.ts';
import type { BootkubeContext } from './context.ts';
import { originalCommands } from './original-commands.ts';
import { type NumberedStage, previousDigests, previousFolder, type RenderStage, stageFolder } from './render-stage.ts';
import { secrecyOf } from './secret-outputs.ts';
import { rendererOf, type StageRenderer } from './who-renders.ts';

export interface StageFileReport {
  readonly path: string;
  readonly digest: string;
  readonly change: 'new' | 'changed' | 'same' | 'removed';
  /** Why its content is not shown; absent if it may be shown. */
  readonly secret?: string;
  /** The difference to the run before, as `diff -u` writes it; absent if the run before had nothing to compare with. */
  readonly diff?: string;
}

export interface StageReport {
  readonly number: number;
  readonly name: string;
  readonly why: string;
  /** What the original runs at this point. */
  readonly original: string;
  /** What runs here. */
  readonly here: string;
  /** The image that renders it, and where; absent for a stage that renders nothing. */
  readonly rendersBy?: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly checks: readonly string[];
  /** When it was last completed; absent if it never was. */
  readonly doneAt?: string;
  readonly note?: string;
  readonly files: readonly StageFileReport[];
}

export async function stageReport(context: BootkubeContext, stage: NumberedStage): Promise<StageReport> {
  const runs = await runsOf(context, stage.name);
  const last = runs.at(-1);
  const before = (await previousDigests(context, stage)) ?? runs.at(-2)?.outputs ?? {};
  const files = last === undefined ? [] : await fileReports(context, stage, { before, now: last.outputs });
  return {
    ...plainReport(context, stage),
    ...(last === undefined ? {} : { doneAt: last.at }),
    ...(last?.note === undefined ? {} : { note: last.note }),
    files,
  };
}

/** What is known of a stage before it runs. */
function plainReport(context: BootkubeContext, stage: NumberedStage): StageReport {
  const { release, images } = context;
  const { number, name, why, inputs, outputs, verify } = stage;
  const { variable, render } = stage as Partial<RenderStage>;
  const image = variable === undefined ? undefined : release.imageVariables[variable];
  const command = `firstlight bootkube stage ${number}`;
  return {
    number,
    name,
    why,
    inputs,
    outputs,
    original: originalCommands[number] ?? '',
    here: image === undefined ? command : `${command}   # ${variable}=${images[variable ?? '']} (${image.why})`,
    ...(render === undefined ? {} : { rendersBy: rendererText(rendererOf(context, variable)) }),
    checks: verify.map((check) => check.name),
    files: [],
  };
}

function rendererText({ image, kind }: StageRenderer): string {
  return kind === 'image'
    ? `${image}, in a container of this machine`
    : `${image}, whose function runs in bootkube itself; --in-container runs the image`;
}

async function runsOf({ host }: BootkubeContext, name: string): Promise<readonly StageRecord[]> {
  const records = await readJournal(host.files, bootkubeJournal);
  return (records as unknown as readonly (StageRecord & { readonly kind: string })[]).filter(
    ({ kind, stage }) => kind === 'stage' && stage === name,
  );
}

interface Outputs {
  readonly before: Digests;
  readonly now: Digests;
}

async function fileReports(
  context: BootkubeContext,
  stage: NumberedStage,
  { before, now }: Outputs,
): Promise<readonly StageFileReport[]> {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort();
  return Promise.all(
    paths.map(async (path): Promise<StageFileReport> => {
      const digest = now[path];
      const known = before[path];
      const change =
        digest === undefined ? 'removed' : known === undefined ? 'new' : known === digest ? 'same' : 'changed';
      const texts = await textsOf(context, stage, path);
      const secret = secrecyOf(path, texts);
      return {
        path,
        digest: digest ?? known ?? '',
        change,
        ...(secret === undefined ? {} : { secret }),
        ...(change === 'changed' && secret === undefined ? { diff: difference(path, texts) } : {}),
      };
    }),
  );
}

/** Before and after; empty where there is none. */
async function textsOf(
  { host, folders }: BootkubeContext,
  stage: NumberedStage,
  path: string,
): Promise<readonly [before: string, after: string]> {
  const read = async (folder: string): Promise<string> =>
    Buffer.from((await host.files.readIfPresent(join(folder, path))) ?? '').toString('utf8');
  return [await read(previousFolder(folders, stage)), await read(join(folders.render, stageFolder(stage)))];
}

function difference(path: string, [before, after]: readonly [string, string]): string {
  return createTwoFilesPatch(`before/${path}`, `now/${path}`, before, after, undefined, undefined, {
    headerOptions: FILE_HEADERS_ONLY,
  });
}
