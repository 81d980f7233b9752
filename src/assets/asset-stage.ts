// An asset as a stage of the workflow: observed by digests, generated when its inputs changed or it is about to expire.
// Later assets get its value through the context, always read back from the disk, so that an edited file wins.
import { join } from 'node:path';
import { architectureOf } from '../install-config/architecture.ts';
import { digestOf, digestOfRecord } from '../workflow/digest.ts';
import type { Emit } from '../workflow/events.ts';
import type { Digests, Stage, StageObservation, StageRecord, StageResult } from '../workflow/stage.ts';
import type { AnyAsset, AssetFile, FileSet, GenerateTools } from './asset.ts';
import { assetErrors } from './errors.ts';
import { type AssetFolder, digestsOf, readAssetFiles, writeAssetFiles } from './folder.ts';
import { inputsOf } from './graph.ts';
import { decideFile } from './three-way.ts';

export interface AssetContext {
  readonly folder: AssetFolder;
  readonly emit: Emit;
  /** What is known of the assets done so far, by name. */
  readonly known: Map<string, KnownAsset>;
}

export interface KnownAsset {
  readonly value: unknown;
  readonly digest: string;
  readonly files: FileSet;
}

export function assetStage(asset: AnyAsset): Stage<AssetContext> {
  return {
    name: asset.name,
    why: asset.why,
    observe: (context, last) => observe(context, asset, last),
    run: (context, _tools, last) => run(context, asset, last),
  };
}

async function observe(
  context: AssetContext,
  asset: AnyAsset,
  last: StageRecord | undefined,
): Promise<StageObservation> {
  const inputs = inputDigests(context, asset);
  const files = await readAssetFiles(context.folder, asset, Object.keys(last?.outputs ?? {}));
  if (asset.isCollection === true) {
    await learn(context, asset, files);
    return { status: 'done' };
  }
  const missing = missingFiles(asset, files, last);
  refuseIncomplete(asset, files, missing);
  if (last === undefined) {
    if (files.size === 0 || missing.length > 0) return { status: 'needed', because: 'it does not exist yet' };
    await learn(context, asset, files);
    const result = { inputs, outputs: {}, edited: digestsOf(files) };
    return { status: 'adopt', result, note: `${[...files.keys()].join(', ')} was here already and is kept` };
  }
  const changed = Object.keys(inputs).filter((name) => inputs[name] !== last.inputs[name]);
  if (changed.length > 0 || Object.keys(last.inputs).length !== Object.keys(inputs).length) {
    return { status: 'needed', because: `${changed.join(', ')} changed` };
  }
  if (missing.length > 0) return { status: 'needed', because: `${missing.join(', ')} was removed` };
  const value = await learn(context, asset, files);
  const stale = asset.stale?.(value, toolsOf(context));
  if (stale !== undefined) {
    context.emit({ kind: 'notice', level: 'info', text: `${asset.name}: ${stale}; it is made anew` });
    return { status: 'needed', because: stale };
  }
  return adoptEdits(last, inputs, digestsOf(files));
}

/** Done, unless a user changed a file since the last record: then the change is recorded, once. */
function adoptEdits(last: StageRecord, inputs: Digests, disk: Digests): StageObservation {
  const edited = Object.fromEntries(Object.entries(disk).filter(([path, digest]) => last.outputs[path] !== digest));
  const before = last.edited ?? {};
  const fresh = Object.keys(edited).filter((path) => edited[path] !== before[path]);
  const reverted = Object.keys(before).filter((path) => !(path in edited));
  if (fresh.length === 0 && reverted.length === 0) return { status: 'done' };
  const note =
    fresh.length > 0 ? `${fresh.join(', ')} was edited and is kept` : `${reverted.join(', ')} is as generated again`;
  return { status: 'adopt', result: { inputs, outputs: last.outputs, edited }, note };
}

async function run(context: AssetContext, asset: AnyAsset, last: StageRecord | undefined): Promise<StageResult> {
  const inputs = inputDigests(context, asset);
  const disk = await readAssetFiles(context.folder, asset, Object.keys(last?.outputs ?? {}));
  const generated = await asset.generate(inputValues(context, asset), { ...toolsOf(context), before: disk });
  const plan = planFiles(asset, { generated, disk, last, inputs });
  const outputs = Object.fromEntries(generated.map((file) => [file.path, digestOf(file.content)]));
  const after = new Map([...disk].filter(([path]) => !plan.remove.includes(path)));
  for (const file of plan.write) after.set(file.path, Buffer.from(file.content));
  // Parsed before it is written: what cannot be read back must never reach the disk.
  await learn(context, asset, after);
  const edited = Object.fromEntries(Object.entries(digestsOf(after)).filter(([path, d]) => outputs[path] !== d));
  const result = { inputs, outputs, ...(Object.keys(edited).length === 0 ? {} : { edited }) };
  await writeAssetFiles(context.folder, asset.name, { files: plan.write, result });
  for (const path of plan.remove) await context.folder.host.files.remove(join(context.folder.dir, path));
  return result;
}

interface PlanFacts {
  readonly generated: readonly AssetFile[];
  readonly disk: FileSet;
  readonly last: StageRecord | undefined;
  readonly inputs: Digests;
}

function planFiles(asset: AnyAsset, facts: PlanFacts): { write: readonly AssetFile[]; remove: readonly string[] } {
  const { generated, disk, last } = facts;
  const digests = digestsOf(disk);
  const decisions = generated.map((file) => ({
    file,
    decision: decideFile({
      before: last?.outputs[file.path],
      now: digestOf(file.content),
      disk: digests[file.path],
      mayBeRemoved: asset.mayBeRemoved === true,
    }),
  }));
  const conflicts = decisions.filter((d) => d.decision === 'conflict').map((d) => d.file.path);
  if (conflicts.length > 0) {
    const changed = Object.keys(facts.inputs).filter((name) => facts.inputs[name] !== last?.inputs[name]);
    throw assetErrors.CONFLICT({ asset: asset.name, files: conflicts, changed });
  }
  const paths = new Set(generated.map((file) => file.path));
  // Files that an earlier run generated, that no user edited, and that are not generated any more.
  const remove = Object.keys(last?.outputs ?? {}).filter((p) => !paths.has(p) && digests[p] === last?.outputs[p]);
  return { write: decisions.filter((d) => d.decision === 'write').map((d) => d.file), remove };
}

/** Reads the value, checks that it belongs here, and makes it known to later assets. */
async function learn(context: AssetContext, asset: AnyAsset, files: FileSet): Promise<unknown> {
  const tools = toolsOf(context);
  const value = await asset.read(files, tools);
  const mismatch = asset.mismatch?.(value, inputValues(context, asset));
  if (mismatch !== undefined) throw assetErrors.MISMATCH({ asset: asset.name, reason: mismatch });
  context.known.set(asset.name, { value, digest: digestOfRecord(digestsOf(files)), files });
  return value;
}

function refuseIncomplete(asset: AnyAsset, files: FileSet, missing: readonly string[]): void {
  if (asset.isWhole !== true || missing.length === 0 || files.size === 0) return;
  throw assetErrors.INCOMPLETE({ asset: asset.name, present: [...files.keys()], missing });
}

function missingFiles(asset: AnyAsset, files: FileSet, last: StageRecord | undefined): readonly string[] {
  const declared = asset.outputs.filter((output) => !output.endsWith('/*'));
  const expected = last === undefined || asset.mayBeRemoved === true ? declared : Object.keys(last.outputs);
  if (last !== undefined && asset.mayBeRemoved === true) return [];
  return expected.filter((path) => !files.has(path));
}

function inputDigests(context: AssetContext, asset: AnyAsset): Digests {
  return Object.fromEntries(inputsOf(asset).map((input) => [input.name, knownAsset(context, input).digest]));
}

function inputValues(context: AssetContext, asset: AnyAsset): Record<string, unknown> {
  const inputs = Object.entries(asset.inputs);
  return Object.fromEntries(inputs.map(([key, input]) => [key, knownAsset(context, input).value]));
}

function knownAsset(context: AssetContext, asset: AnyAsset): KnownAsset {
  const known = context.known.get(asset.name);
  if (known === undefined) throw new Error(`the asset ${asset.name} is used before it is made`);
  return known;
}

function toolsOf(context: AssetContext): GenerateTools {
  const { clock, random, environment } = context.folder.host;
  const architecture = architectureOf(environment.architecture);
  return { clock, random, emit: context.emit, architecture, before: new Map() };
}
