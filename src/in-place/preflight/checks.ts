// Every check of preflight, in the order of their ids. All of them run and all of them report.
import type { PreflightCheck } from './check.ts';
import { hostChecks } from './checks/host-checks.ts';
import { configCheck, connectionCheck, downloadCheck, idsCheck } from './checks/payload-checks.ts';
import { apiCheck, registryCheck, reportCheck, repositoryCheck } from './checks/service-checks.ts';

export const preflightChecks: readonly PreflightCheck[] = [
  ...hostChecks,
  connectionCheck,
  downloadCheck,
  configCheck,
  registryCheck,
  repositoryCheck,
  idsCheck,
  reportCheck,
  apiCheck,
];
