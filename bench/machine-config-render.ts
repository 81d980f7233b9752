// How long rendering takes and how its memory grows: pools of 20 files per MachineConfig, from 100 to 10,000
// MachineConfigs, a tenth of the files contested. Each size runs in a process of its own, so that the heap of one does
// not flatter the next. `node bench/machine-config-render.ts` prints a table; `-o json` prints the figures.
import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { performance } from 'node:perf_hooks';
import { dataUrl } from '../src/ignition/data-url.ts';
import { latestSpec } from '../src/ignition/spec-version.ts';
import type { MachineConfig } from '../src/machine-config/machine-config.ts';
import { apiVersion, configSpec, roleLabel } from '../src/machine-config/machine-config.ts';
import { builtInPools } from '../src/machine-config/pools.ts';
import { readObjects } from '../src/machine-config/read-objects.ts';
import { renderPool } from '../src/machine-config/render.ts';
import { readDocuments } from '../src/source-text/documents.ts';

const filesEach = 20;
const sizes = [100, 300, 1_000, 3_000, 10_000];
const runs = 5;

interface Figures {
  readonly machineConfigs: number;
  /** From objects in memory to the rendered object; smallest, median, largest. */
  readonly renderMs: readonly [number, number, number];
  /** Processor time of the median run; on a busy host the fairer figure. */
  readonly renderCpuMs: number;
  /** The same MachineConfigs from JSON text, checked as if a person had written them; once. */
  readonly readMs: number;
  readonly inputMb: number;
  /** Heap after rendering and a collection, above what the input itself takes. */
  readonly renderedMb: number;
}

function sample(count: number): readonly MachineConfig[] {
  return Array.from({ length: count }, (_, index) => ({
    metadata: {
      name: `50-bench-${String(index).padStart(6, '0')}`,
      labels: { [roleLabel]: 'worker' },
      annotations: {},
    },
    spec: configSpec({
      ignition: { version: latestSpec },
      storage: {
        files: Array.from({ length: filesEach }, (_, file) => ({
          // Every tenth path belongs to its neighbour too.
          path: `/etc/bench/${file % 10 === 0 ? Math.floor(index / 2) : index}/${file}`,
          mode: 0o644,
          contents: { source: dataUrl(`file ${file} of MachineConfig ${index}\n`) },
        })),
      },
    }),
  }));
}

const usedMb = (): number => {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1024 / 1024;
};

function measure(count: number): Figures {
  const pool = builtInPools.find(({ metadata }) => metadata.name === 'worker')!;
  const options = { generatedBy: 'bench', limitBytes: Number.POSITIVE_INFINITY };
  const empty = usedMb();
  const machineConfigs = sample(count);
  const filled = usedMb();

  const times: number[] = [];
  const cpuTimes: number[] = [];
  let rendered = renderPool(pool, machineConfigs, options);
  for (let run = 0; run < runs; run += 1) {
    const [start, cpuStart] = [performance.now(), process.cpuUsage()];
    rendered = renderPool(pool, machineConfigs, options);
    times.push(performance.now() - start);
    const { user, system } = process.cpuUsage(cpuStart);
    cpuTimes.push((user + system) / 1_000);
  }
  for (const list of [times, cpuTimes]) list.sort((one, other) => one - other);
  const after = usedMb();

  const texts = machineConfigs.map((one) => JSON.stringify({ apiVersion, kind: 'MachineConfig', ...one }));
  const readStart = performance.now();
  const read = readObjects(readDocuments('bench.yaml', texts.join('\n---\n')).documents);
  const readMs = performance.now() - readStart;
  if (read.machineConfigs.length !== count || read.mistakes.length > 0) throw new Error('the sample was not read back');
  if (renderPool(pool, read.machineConfigs, options).name !== rendered.name) throw new Error('names differ');
  return {
    machineConfigs: count,
    renderMs: [times[0]!, times[Math.floor(runs / 2)]!, times.at(-1)!],
    renderCpuMs: cpuTimes[Math.floor(runs / 2)]!,
    readMs,
    inputMb: filled - empty,
    renderedMb: after - filled,
  };
}

const [only, size] = process.argv.slice(2);
if (only === '--size') {
  console.log(JSON.stringify(measure(Number(size))));
} else {
  const figures = sizes.map((count) => {
    const args = ['--expose-gc', import.meta.filename, '--size', String(count)];
    return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Figures;
  });
  if (only === '-o') {
    console.log(
      JSON.stringify({ node: process.version, cpu: cpus()[0]?.model, cpus: cpus().length, figures }, null, 2),
    );
  } else {
    console.log(
      `node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}; ${filesEach} files each, ${runs} runs`,
    );
    for (const { machineConfigs, renderMs, renderCpuMs, readMs, inputMb, renderedMb } of figures) {
      const [least, median, most] = renderMs.map((ms) => ms.toFixed(0));
      const perThousand = ((renderedMb / machineConfigs) * 1_000).toFixed(1);
      console.log(
        `${String(machineConfigs).padStart(6)}  render ${median} ms (${least}–${most}), ${renderCpuMs.toFixed(0)} CPU-ms  read ${readMs.toFixed(0)} ms  ` +
          `input ${inputMb.toFixed(1)} MB  rendered ${renderedMb.toFixed(1)} MB (${perThousand} per 1,000)`,
      );
    }
  }
}
