// Runs the `render` of an image as a container of this machine's containerd: once, without network and capabilities, on
// a read-only root. It reads what its stage reads, read-only, and writes to one folder, which is empty at first. What
// it wrote is used only when it has ended well and everything was looked at.
import { join } from 'node:path';
import { z } from 'zod';
import { digestOfReference } from '../contract/bootkube-environment.ts';
import { renderLogFolder } from '../contract/bootstrap-paths.ts';
import { containerdSocket } from '../contract/machine-paths.ts';
import { working } from '../contract/stage-progress.ts';
import { jsonIfValid } from '../host/json-if-valid.ts';
import type { RunResult } from '../host/processes.ts';
import type { StageTools } from '../workflow/stage.ts';
import type { BootkubeContext } from './context.ts';
import { bootkubeErrors } from './errors.ts';
import { type ContainerStage, containerFlags, outputFolderOf, renderWords } from './render-sandbox.ts';
import type { StageFile } from './render-stage.ts';
import { readRenderedOutput } from './rendered-output.ts';
import { rendererOf } from './who-renders.ts';

/** A render takes a second; the slowest disk and the largest image are far below this. */
const deadlineMs = 60_000;
const quickMs = 30_000;
const logLinesMax = 20_000;

/** Beside the machine's own assets, so that rm-assets removes what a killed run has left. */
const workFolder = 'rendering';

/** The path of the log of the last run. */
export function renderLog({ folder }: Pick<ContainerStage, 'folder'>): string {
  return join(renderLogFolder, `${folder}.log`);
}

export async function renderInContainer(
  context: BootkubeContext,
  stage: ContainerStage,
  tools: StageTools,
): Promise<readonly StageFile[]> {
  const { host, folders, release } = context;
  const { image, kind } = rendererOf(context, stage.variable);
  const about = { stage: `${stage.number} (${stage.name})`, image, log: renderLog(stage) };
  if (!release.images.some(({ reference }) => reference === image))
    throw bootkubeErrors.RENDER_IMAGE({ ...about, reason: 'it is no image of this release' });
  const output = join(folders.assets, workFolder, stage.folder);
  tools.report(working(`${image} renders`));
  await host.files.remove(output);
  await host.files.makeFolder(output, { mode: 0o700 });
  try {
    await runContainer(context, { stage, output, image, signal: tools.signal });
    const files = await readRenderedOutput(host.files, output, (problem) =>
      bootkubeErrors.RENDER_OUTPUT({ ...about, ...problem }),
    );
    // Only our own image may have nothing to render, and says so by its stage.
    if (files.length === 0 && kind === 'image')
      throw bootkubeErrors.RENDER_OUTPUT({ ...about, path: outputFolderOf(stage), reason: 'nothing was written' });
    return files;
  } finally {
    await host.files.remove(output);
  }
}

interface ContainerRun {
  readonly stage: ContainerStage;
  readonly output: string;
  readonly image: string;
  readonly signal: AbortSignal;
}

async function runContainer(context: BootkubeContext, { stage, output, image, signal }: ContainerRun): Promise<void> {
  const { host } = context;
  const id = `firstlight-render-${stage.folder}`;
  const words = [...(await entrypointOf(context, stage, image)), ...renderWords(context, stage)];
  const command = ['run', '--rm', ...(await containerFlags(context, stage, output)), image, id, ...words];
  const said: string[] = [`# ${host.clock.now().toISOString()} ${image} ${words.join(' ')}`];
  // Of a run that was killed: the container goes on without it.
  await removeContainer(context, id);
  let result: RunResult | undefined;
  try {
    result = await host.processes.run('ctr', ctrArgs(command), {
      timeoutMs: deadlineMs,
      signal,
      keepBytes: 65_536,
      onLine: (line) => {
        said.push(line);
        if (said.length > logLinesMax) said.splice(1, logLinesMax / 10);
      },
    });
  } finally {
    said.push(`# ${outcomeText(result)}`);
    await host.files.makeFolder(renderLogFolder, { mode: 0o700 });
    await host.files.write(renderLog(stage), `${said.join('\n')}\n`, { mode: 0o600, isDurable: false });
    if (result?.code !== 0) await removeContainer(context, id);
  }
  if (result.code !== 0) throw failure({ stage, image, result });
}

const manifestSchema = z.object({ config: z.object({ digest: z.string() }) });
const configSchema = z.object({
  config: z.object({ Entrypoint: z.array(z.string()).nullish() }).nullish(),
});

/** `ctr run` with words runs the words alone; every other runtime puts them after the entrypoint of the image. */
async function entrypointOf(
  { host }: BootkubeContext,
  stage: ContainerStage,
  image: string,
): Promise<readonly string[]> {
  const read = async <T>(digest: string, schema: z.ZodType<T>): Promise<T> => {
    const args = ctrArgs(['content', 'get', digest]);
    const { code, stdout } = await host.processes.run('ctr', args, { timeoutMs: quickMs });
    const found = code === 0 ? schema.safeParse(jsonIfValid(stdout)) : undefined;
    if (found?.success === true) return found.data;
    const reason = found === undefined ? 'this machine does not have it' : `${digest} cannot be read`;
    throw bootkubeErrors.RENDER_IMAGE({ stage: `${stage.number} (${stage.name})`, image, reason });
  };
  const manifest = await read(digestOfReference(image) ?? image, manifestSchema);
  return (await read(manifest.config.digest, configSchema)).config?.Entrypoint ?? [];
}

function outcomeText(result: RunResult | undefined): string {
  if (result === undefined) return 'was interrupted';
  return result.timedOut ? `was ended after ${deadlineMs / 1000} s` : `ended with ${result.code ?? result.signal}`;
}

function failure({ stage, image, result }: Pick<ContainerRun, 'stage' | 'image'> & { readonly result: RunResult }) {
  const about = { stage: `${stage.number} (${stage.name})`, image, log: renderLog(stage) };
  if (result.timedOut) return bootkubeErrors.RENDER_HANGS({ ...about, seconds: deadlineMs / 1000 });
  const lines = `${result.stdout}\n${result.stderr}`.split('\n').map((line) => line.trim());
  // containerd's client says in lines of its own what it thinks of this machine.
  const last = lines.findLast((line) => line !== '' && !line.startsWith('time="')) ?? '';
  const reason = `${last === '' ? '' : `${last.replace(/^ctr: /, '')} `}(it ${outcomeText(result)})`;
  return bootkubeErrors.RENDER_FAILED({ ...about, reason });
}

function ctrArgs(args: readonly string[]): readonly string[] {
  return ['--address', containerdSocket, '--namespace', 'k8s.io', ...args];
}

async function removeContainer({ host }: BootkubeContext, id: string): Promise<void> {
  const ctr = (...args: readonly string[]): Promise<RunResult> =>
    host.processes.run('ctr', ctrArgs(args), { timeoutMs: quickMs });
  const { stdout } = await ctr('containers', 'list', '--quiet');
  if (!stdout.split('\n').includes(id)) return;
  await ctr('tasks', 'delete', '--force', id);
  await ctr('containers', 'delete', id);
}
