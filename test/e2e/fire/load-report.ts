// What a process under load.ts is told and what it says at its end, and how a test starts and ends one.
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { type ReportingChild, reportingChild } from '../reporting-child.ts';

export interface LoadSettings {
  /** May appear later than the process. */
  readonly kubeconfig: string;
  readonly writesPerSecond: number;
  readonly watches: number;
  readonly seed?: number;
  /** Where it writes; `fire` unless a cluster has more than one load in its life. */
  readonly namespace?: string;
}

export interface LoadReport {
  seed: number;
  startedAt: string;
  written: number;
  acknowledged: number;
  /** First attempts that failed. */
  retried: number;
  /** Why, of the first of them. */
  retriedFor: { readonly at: string; readonly reason: string }[];
  /** Writes whose second attempt failed too. */
  failed: { readonly at: string; readonly reason: string }[];
  /** Acknowledged, and not there at the end. */
  lost: string[];
  /** Between two acknowledged writes. */
  longestGapMs: number;
  longestGapAt: string;
  /** All of half a second and more. */
  gaps: { readonly at: string; readonly ms: number }[];
  watches: number;
  /** How often a watch was cut. */
  cuts: number;
  longestResumeMs: number;
  /** How often a watch could not be taken up where it was and had to list. */
  relists: number;
  /** Per watch that did not see all: how many acknowledged writes it never saw. */
  missed: number[];
}

export type Load = ReportingChild<LoadReport>;

export function startLoad(settings: LoadSettings): Load {
  const script = resolve('test/e2e/fire/load.ts');
  const child = spawn(process.execPath, [script, JSON.stringify(settings)], { stdio: ['pipe', 'pipe', 'inherit'] });
  return reportingChild(child, 'the load');
}
