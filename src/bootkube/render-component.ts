// What our own image does in a container: renders one component into the folder that it is given. It is the function
// that bootkube calls in its own process, so both write the same bytes. What was made by chance before, such as keys,
// is mounted read-only at its own place and is kept.
import { join } from 'node:path';
import type { Host } from '../host/host.ts';
import type { Emit } from '../workflow/events.ts';
import { loadContext, machineFolders } from './context.ts';
import { bootkubeErrors } from './errors.ts';
import { stageFolder, treeDigests, writeStageFiles } from './render-stage.ts';
import { renderStages } from './render-stages.ts';

export interface RenderComponentOptions {
  readonly host: Host;
  readonly emit: Emit;
  /** The name of its stage. */
  readonly component: string;
  /** The keys and certificates that it reads. */
  readonly inputFolder: string;
  readonly outputFolder: string;
}

/** Returns the paths of the files, relative to the output folder. */
export async function renderComponent(options: RenderComponentOptions): Promise<readonly string[]> {
  const { host, emit, component, inputFolder, outputFolder } = options;
  const stage = renderStages.find(({ name }) => name === component);
  if (stage === undefined)
    throw bootkubeErrors.NOT_RENDERED_HERE({ stage: component, known: renderStages.map(({ name }) => name) });
  const folders = { ...machineFolders, tls: inputFolder, output: outputFolder };
  const context = await loadContext(host, emit, folders);
  for (const name of stage.keeps) {
    const from = join(folders.render, stageFolder(stage), name);
    for (const path of Object.keys(await treeDigests(host.files, from))) {
      const mode = (await host.files.facts(join(from, path)))?.mode ?? 0o600;
      const target = join(outputFolder, name, path);
      await host.files.makeFolder(join(target, '..'), { mode: 0o700 });
      await host.files.write(target, await host.files.read(join(from, path)), { mode });
    }
  }
  const files = await stage.render(context);
  await writeStageFiles(host.files, outputFolder, files);
  return files.map(({ path }) => path);
}
