// What a bundle says, in short: from its files alone, so that the page of a new bundle and `gather analyze` of an old
// one say the same.
import { z } from 'zod';
import { jsonIfValid } from '../host/json-if-valid.ts';
import type { Missed } from './bundle-contents.ts';
import {
  type BundleAbout,
  type BundleDiagnosis,
  type BundleMachine,
  bundleAboutSchema,
  bundleDiagnosisSchema,
  bundleFiles,
  bundleMachineSchema,
  missedSchema,
  type ServiceRecordEntry,
  serviceRecordSchema,
} from './bundle-facts.ts';
import { diagnosisFile } from './cluster-wide/collectors/diagnosis.ts';

export interface BundleStage {
  readonly name: string;
  readonly state: 'done' | 'failed' | 'began';
  readonly at: string;
  readonly error?: string;
}

export interface BundleService {
  readonly name: string;
  readonly starts: number;
  readonly isSuccess: boolean;
  readonly stages: readonly BundleStage[];
}

export interface SummarizedMachine extends BundleMachine {
  readonly failedUnits: readonly string[];
}

export interface BundleSummary {
  readonly about: BundleAbout | undefined;
  readonly machines: readonly SummarizedMachine[];
  readonly diagnosis: BundleDiagnosis;
  readonly services: readonly BundleService[];
  readonly missed: readonly Missed[];
}

type BundleText = ReadonlyMap<string, string>;

export function summarizeBundle(files: BundleText): BundleSummary {
  const machines = read(files, bundleFiles.machines, z.array(bundleMachineSchema)) ?? [];
  return {
    about: read(files, bundleFiles.about, bundleAboutSchema),
    machines: machines.map((machine) => ({ ...machine, failedUnits: failedUnitsOf(files, machine) })),
    diagnosis: read(files, diagnosisFile, bundleDiagnosisSchema) ?? { reasons: [], missing: [] },
    services: [...files.keys()].flatMap((path) => serviceOf(files, path) ?? []),
    missed: read(files, bundleFiles.missed, z.array(missedSchema)) ?? [],
  };
}

function read<T>(files: BundleText, path: string, schema: z.ZodType<T>): T | undefined {
  return schema.safeParse(jsonIfValid(files.get(path) ?? '')).data;
}

function failedUnitsOf(files: BundleText, { folder }: BundleMachine): readonly string[] {
  const text = files.get(`${folder}/failed-units.txt`) ?? '';
  return text.split('\n').flatMap((line) => /^\s*(\S+\.\w+) +loaded/.exec(line)?.[1] ?? []);
}

const records = /(?:^|\/)services\/([\w-]+)\.json$/;

function serviceOf(files: BundleText, path: string): BundleService | undefined {
  const [, name] = records.exec(path) ?? [];
  const entries = name === undefined ? undefined : read(files, path, z.array(serviceRecordSchema));
  return name === undefined || entries === undefined ? undefined : analyzeService(name, entries);
}

/** As the original's analysis does: success by the last record, failing stage by the last failure. */
export function analyzeService(name: string, entries: readonly ServiceRecordEntry[]): BundleService {
  const stages = new Map<string, BundleStage>();
  for (const { phase, stage, result, timestamp: at, errorMessage } of entries) {
    if (stage === undefined) continue;
    if (phase === 'stage start') stages.set(stage, { name: stage, state: 'began', at });
    if (phase !== 'stage end') continue;
    const state = result === 'success' ? 'done' : 'failed';
    stages.set(stage, { name: stage, state, at, ...(errorMessage === undefined ? {} : { error: errorMessage }) });
  }
  const last = entries.at(-1);
  return {
    name,
    starts: entries.filter(({ phase }) => phase === 'service start').length,
    isSuccess: last?.phase === 'service end' && last.result === 'success',
    stages: [...stages.values()],
  };
}
