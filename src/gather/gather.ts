// Fills a bundle: all collectors at once, the machines a few at a time, until everything is taken or the time is over.
// No collector can make another one fail; what could not be taken is in the bundle with its reason.

import { type BundleContents, bundleContents } from './bundle-contents.ts';
import { type BundleAbout, type BundleMachine, bundleFiles } from './bundle-facts.ts';
import type { ClusterCollector, GatherSources } from './cluster-wide/cluster-collector.ts';
import { clusterCollectors } from './cluster-wide/cluster-collectors.ts';
import { gatherErrors } from './errors.ts';
import { fewAtATime } from './few-at-a-time.ts';
import { collectMachine } from './machine/collect-machine.ts';
import { folderOfMachine, type GatheredMachine } from './machine/gathered-machine.ts';
import { bundlePage } from './page/bundle-page.ts';
import { summarizeBundle } from './summarize-bundle.ts';
import { troubleText } from './trouble-text.ts';

export interface GatherOptions extends Omit<GatherSources, 'patienceMs'> {
  readonly about: BundleAbout;
  /** When the collecting ends; packing takes a second or two more. */
  readonly collectMs: number;
  /** What is done now, for the screen. */
  readonly report: (text: string) => void;
}

/** As many machines are looked at together. */
const together = 8;
/** How long those who were told to end may take to say so. */
const endMs = 2_500;

/** Path → text of every file of the bundle. Throws NOTHING when neither a machine nor the API could be asked. */
export async function gather(options: GatherOptions): Promise<ReadonlyMap<string, string>> {
  const { host, about, signal } = options;
  const contents = bundleContents(host.clock);
  contents.note(`gathers ${about.cluster}, with firstlight ${about.version}`);
  const machines = await collectInTime(options, contents);
  signal.throwIfAborted();
  if (machines.every(({ look }) => look === 'not at all') && !contents.files().has('resources/version.txt')) {
    throw gatherErrors.NOTHING({ missed: contents.missed() });
  }
  contents.add(bundleFiles.about, JSON.stringify(about));
  contents.add(bundleFiles.machines, JSON.stringify(machines));
  contents.add(bundleFiles.missed, JSON.stringify(contents.missed()));
  contents.add('failed-units.txt', failedUnits(contents, machines));
  contents.note(`${contents.files().size} files, ${contents.missed().length} things could not be taken`);
  contents.add('gather.log', contents.log());
  contents.add('index.html', bundlePage(summarizeBundle(contents.files()), contents.files()));
  return contents.files();
}

async function collectInTime(options: GatherOptions, contents: BundleContents): Promise<readonly BundleMachine[]> {
  const { host, machines, collectMs } = options;
  const over = new AbortController();
  const signal = AbortSignal.any([options.signal, over.signal]);
  const looks = new Map<string, BundleMachine['look']>();
  // So that one that hangs leaves time for the others.
  const patienceMs = collectMs / 3;
  const sources: GatherSources = { ...options, signal, patienceMs };
  const work = Promise.all([
    fewAtATime(clusterCollectors, clusterCollectors.length, (collector) =>
      collectOne(sources, collector, { contents, report: options.report }),
    ),
    fewAtATime(machines, together, async (machine) => {
      looks.set(machine.name, await collectMachine({ host, machine, contents, signal, patienceMs }));
      options.report(
        `${machine.name}: ${looks.get(machine.name) === 'not at all' ? 'nothing could be taken' : 'taken'}`,
      );
    }),
  ]);
  const ended = new AbortController();
  const deadline = async (): Promise<void> => {
    await host.clock.sleep(collectMs, ended.signal);
    contents.note('the time for collecting is over');
    over.abort(new Error('the time for collecting is over'));
    await host.clock.sleep(endMs, ended.signal);
  };
  const tooLate = deadline();
  try {
    await Promise.race([work, tooLate]);
  } finally {
    ended.abort(new Error('the collecting has ended'));
    // Of the two, the one that lost: its failure is nobody's any more.
    await tooLate.catch(() => {});
    work.catch(() => {});
  }
  // One that was told to end and has not said so yet.
  const lookSoFar = (machine: GatheredMachine): BundleMachine['look'] =>
    [...contents.files().keys()].some((path) => path.startsWith(`${folderOfMachine(machine)}/`))
      ? 'inside'
      : 'not at all';
  return machines.map((machine) => bundleMachine(machine, looks.get(machine.name) ?? lookSoFar(machine)));
}

async function collectOne(
  sources: GatherSources,
  collector: ClusterCollector,
  { contents, report }: { readonly contents: BundleContents; readonly report: GatherOptions['report'] },
): Promise<void> {
  try {
    await collector.collect(sources, contents);
    contents.note(`${collector.name}: taken`);
    report(`${collector.name}: taken`);
  } catch (error) {
    contents.miss(collector.name, sources.signal.aborted ? 'the time was over' : troubleText(error));
  }
}

function bundleMachine(machine: GatheredMachine, look: BundleMachine['look']): BundleMachine {
  const { name, role, address, state } = machine;
  return { name, role, address, state, look, folder: folderOfMachine(machine) };
}

/** Of all machines: `MACHINE UNIT …`. */
function failedUnits(contents: BundleContents, machines: readonly BundleMachine[]): string {
  const files = contents.files();
  const lines = machines.flatMap(({ name, folder }) =>
    (files.get(`${folder}/failed-units.txt`) ?? '')
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => `${name} ${line.trim()}`),
  );
  return lines.length === 0 ? 'no unit has failed\n' : `${lines.join('\n')}\n`;
}
