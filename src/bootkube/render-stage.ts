// A stage that renders files from its inputs into its own folder. It is done if its inputs and every file of its folder
// have the digests of the journal; otherwise the folder is filled again, and what does not belong there is removed.
import { dirname, join } from 'node:path';
import { digestOfReference } from '../contract/bootkube-environment.ts';
import type { Files } from '../host/files.ts';
import { jsonIfValid } from '../host/json-if-valid.ts';
import { digestOf, digestOfRecord } from '../workflow/digest.ts';
import { workflowErrors } from '../workflow/errors.ts';
import type { Digests, Stage, StageObservation, StageRecord, StageResult, StageTools } from '../workflow/stage.ts';
import type { BootkubeContext } from './context.ts';
import { renderInContainer } from './render-container.ts';
import { secrecyOf } from './secret-outputs.ts';
import { rendererOf, shortReference } from './who-renders.ts';

export interface StageFile {
  /** Relative to the stage's folder. */
  readonly path: string;
  readonly content: string;
  readonly mode?: number;
}

/** A stage with the number and name of the original bootkube. `bootkube stage` shows all these fields. */
export interface NumberedStage extends Stage<BootkubeContext> {
  readonly number: number;
  /** Files and folders that the stage reads, relative to the assets folder. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** At least one. They run at the end of `run`: a stage that is done is verified. */
  readonly verify: readonly StageCheck[];
}

/** What the result of a stage must pass before the next stage may build on it. */
export interface StageCheck {
  /** A sentence that is true when the check is passed. */
  readonly name: string;
  /** Looks at what is there now, not at what the stage meant to write. Returns what is wrong, or undefined. */
  readonly run: (context: BootkubeContext, outputs: Digests) => Promise<string | undefined>;
}

export interface RenderStage extends NumberedStage {
  /** The image variable of the component that this stage renders. */
  readonly variable: string | undefined;
  /** Parts of its own folder that it reads again: what was made by chance and must stay, such as keys. */
  readonly keeps: readonly string[];
  /** What the release's own image does; see who-renders.ts for other images. */
  readonly render: (context: BootkubeContext) => Promise<readonly StageFile[]>;
}

export interface RenderStageOptions {
  readonly number: number;
  readonly name: string;
  readonly why: string;
  readonly variable?: string | undefined;
  readonly keeps?: readonly string[];
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly render: (context: BootkubeContext) => Promise<readonly StageFile[]>;
  readonly verify: readonly StageCheck[];
}

export function stageFolder(stage: { readonly number: number; readonly name: string }): string {
  return `${String(stage.number).padStart(2, '0')}-${stage.name}`;
}

export function renderStage(options: RenderStageOptions): RenderStage {
  return {
    ...options,
    variable: options.variable,
    keeps: options.keeps ?? [],
    observe: (context, last) => observe(context, options, last),
    run: (context, tools) => {
      const isOwn = rendererOf(context, options.variable).kind === 'built-in';
      return runRender(context, options, isOwn ? options.render : inContainer(options, tools));
    },
  };
}

/** The same stage, run as the original does whoever renders it, and also if nothing has changed. */
export function stageInContainer(stage: RenderStage): RenderStage {
  return {
    ...stage,
    observe: async () => ({ status: 'needed', because: 'it is asked for in a container' }),
    run: (context, tools) => runRender(context, stage, inContainer(stage, tools)),
  };
}

type Render = RenderStageOptions['render'];

function inContainer(stage: RenderStageOptions, tools: StageTools): Render {
  const { number, name, variable, inputs, keeps = [] } = stage;
  const folder = stageFolder(stage);
  return (context) => renderInContainer(context, { number, name, folder, variable, inputs, keeps }, tools);
}

async function runRender(context: BootkubeContext, stage: RenderStageOptions, render: Render): Promise<StageResult> {
  const inputs = await inputDigests(context, stage);
  await keepPrevious(context, stage);
  const files = await render(context);
  await writeStageFiles(context.host.files, join(context.folders.render, stageFolder(stage)), files);
  const outputs = Object.fromEntries(files.map(({ path, content }) => [path, digestOf(content)]));
  await verifyStage(context, stage, outputs);
  const by = render === stage.render ? '' : ` by ${shortReference(rendererOf(context, stage.variable).image)}`;
  return { inputs, outputs, note: `${noteOf(files)}${by}` };
}

/** What the stage wrote in the run before, as far as it may be shown. */
export function previousFolder(
  { assets }: BootkubeContext['folders'],
  stage: { readonly number: number; readonly name: string },
): string {
  return join(assets, 'previous', stageFolder(stage));
}

/** The digests of all files that were there before the last run; undefined if that was the first one. */
export async function previousDigests(
  { host, folders }: BootkubeContext,
  stage: { readonly number: number; readonly name: string },
): Promise<Digests | undefined> {
  const content = await host.files.readIfPresent(`${previousFolder(folders, stage)}.json`);
  return content === undefined ? undefined : (jsonIfValid(content) as Digests | undefined);
}

/** Keeps what was there before, so that the difference can be shown. What may hold a secret is not copied. */
async function keepPrevious({ host, folders }: BootkubeContext, stage: RenderStageOptions): Promise<void> {
  const from = join(folders.render, stageFolder(stage));
  const digests = await treeDigests(host.files, from);
  const paths = Object.keys(digests);
  if (paths.length === 0) return;
  const texts = await Promise.all(
    paths.map(async (path) => ({ path, content: await host.files.readText(join(from, path)) })),
  );
  await writeStageFiles(
    host.files,
    previousFolder(folders, stage),
    texts.filter(({ path, content }) => secrecyOf(path, [content]) === undefined),
  );
  await host.files.write(`${previousFolder(folders, stage)}.json`, `${JSON.stringify(digests)}\n`, { mode: 0o600 });
}

/** Throws at the first check that fails. `outputs`: of a stage that renders. */
export async function verifyStage(
  context: BootkubeContext,
  { name, verify }: Pick<NumberedStage, 'name' | 'verify'>,
  outputs: Digests = {},
): Promise<void> {
  for (const check of verify) {
    const reason = await check.run(context, outputs);
    if (reason !== undefined) throw workflowErrors.VERIFY({ stage: name, check: check.name, reason });
  }
}

async function observe(
  context: BootkubeContext,
  options: RenderStageOptions,
  last: StageRecord | undefined,
): Promise<StageObservation> {
  if (last === undefined) return { status: 'needed', because: 'it has not been run' };
  const inputs = await inputDigests(context, options);
  const changed = Object.keys(inputs).filter((name) => inputs[name] !== last.inputs[name]);
  if (changed.length > 0) return { status: 'needed', because: `${changed.join(', ')} changed` };
  const altered = await alteredFiles(context, options, last);
  return altered.length === 0 ? { status: 'done' } : { status: 'needed', because: `${altered.join(', ')} changed` };
}

/** Files of a stage that are missing, changed or not in its record. */
export async function alteredFiles(
  context: BootkubeContext,
  stage: { readonly number: number; readonly name: string },
  record: StageRecord,
): Promise<readonly string[]> {
  const disk = await treeDigests(context.host.files, join(context.folders.render, stageFolder(stage)));
  const paths = new Set([...Object.keys(disk), ...Object.keys(record.outputs)]);
  return [...paths].filter((path) => disk[path] !== record.outputs[path]).sort();
}

async function inputDigests(context: BootkubeContext, options: RenderStageOptions): Promise<Digests> {
  const entries = options.inputs.map(async (name) => {
    const path = name.startsWith('/') ? name : join(context.folders.assets, name);
    return [name, digestOfRecord(await treeDigests(context.host.files, path))] as const;
  });
  // Manifests come with the version of the image that renders them: another image, and they are rendered again.
  const { variable, image } = rendererOf(context, options.variable);
  return {
    ...Object.fromEntries(await Promise.all(entries)),
    [variable]: digestOfReference(image)?.replace('sha256:', '') ?? digestOf(image),
  };
}

/** The digest of every file below `path`, or of `path` itself if it is a file. */
export async function treeDigests(files: Files, path: string, prefix = ''): Promise<Digests> {
  const names = await files.list(path);
  if (names === undefined) {
    const content = await files.readIfPresent(path);
    return content === undefined ? {} : { [prefix]: digestOf(content) };
  }
  const parts = names.map((name) => treeDigests(files, join(path, name), prefix === '' ? name : `${prefix}/${name}`));
  return Object.assign({}, ...(await Promise.all(parts))) as Digests;
}

/** Fills a folder with exactly these files. */
export async function writeStageFiles(files: Files, folder: string, rendered: readonly StageFile[]): Promise<void> {
  // Never emptied: a container may have the folder mounted, and a run that is killed here must find its keys again.
  const wanted = new Set(rendered.map(({ path }) => path));
  const stale = Object.keys(await treeDigests(files, folder)).filter((path) => !wanted.has(path));
  for (const path of stale) await files.remove(join(folder, path));
  await files.makeFolder(folder, { mode: 0o700 });
  for (const { path, content, mode } of rendered) {
    const target = join(folder, path);
    await files.makeFolder(dirname(target), { mode: 0o700 });
    await files.write(target, content, { mode: mode ?? 0o600 });
  }
}

function noteOf(files: readonly StageFile[]): string {
  return files.length === 0 ? 'nothing to render' : `${files.length} ${files.length === 1 ? 'file' : 'files'}`;
}
