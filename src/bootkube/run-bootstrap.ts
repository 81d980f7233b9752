// The whole life of bootkube.service: fifteen stages, then the masters, then the handoff. Everything it does is observed
// first, so systemd may restart it anywhere and it continues.
import { runService, type ServiceOptions } from './run-service.ts';
import { handoffStages, mastersStages, stages } from './stages.ts';

export function runBootstrap(options: ServiceOptions): Promise<void> {
  return runService({ name: 'bootkube', stages: [...stages, ...mastersStages, ...handoffStages] }, options);
}
