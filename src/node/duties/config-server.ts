// Starts the config server of a master, for machines that join later. It must run before the load balancer stops using
// the bootstrap machine, so that a machine finds a config server at any time.
import { programs } from '../../contract/machine-paths.ts';
import { masterConfigServerUnit } from '../../machine-software/bootstrap-units.ts';
import { acted, type Duty, settled } from '../duty.ts';
import { runCommand } from '../run-command.ts';
import { letStartAtBoot, startsAtBoot } from '../start-at-boot.ts';

export const configServerDuty: Duty = {
  name: 'config-server',
  roles: ['master'],
  needs: ['keys', 'credentials', 'cluster-view'],
  ignoresRingsWhenSettled: true,
  run: async ({ host }) => {
    const { name } = masterConfigServerUnit;
    const active = await host.processes.run(programs.systemctl, ['is-active', '--quiet', name], { timeoutMs: 10_000 });
    if (active.code === 0 && (await startsAtBoot(host.files, name))) return settled();
    await letStartAtBoot(host.files, name);
    await runCommand(host, programs.systemctl, ['start', '--no-block', name]);
    return acted(`started ${name}`);
  },
};
