// The config server of a master. It runs before the load balancer leaves the bootstrap machine, so that machines find one
// at any moment.
import { masterConfigServerUnit } from '../../node-software/bootstrap-units.ts';
import { programs } from '../../node-software/machine-paths.ts';
import { acted, type Duty, settled } from '../duty.ts';
import { runCommand } from '../run-command.ts';

export const configServer: Duty = {
  name: 'config-server',
  why: 'Machines that join later ask for their configuration as the first ones did, and the bootstrap machine is gone.',
  roles: ['master'],
  needs: ['keys', 'credentials', 'cluster-view'],
  isDeafWhenSettled: true,
  run: async ({ host }) => {
    const { name } = masterConfigServerUnit;
    const [active, enabled] = await Promise.all(
      ['is-active', 'is-enabled'].map((question) =>
        host.processes.run(programs.systemctl, [question, '--quiet', name], { timeoutMs: 10_000 }),
      ),
    );
    if (active?.code === 0 && enabled?.code === 0) return settled();
    await runCommand(host, programs.systemctl, ['enable', '--now', '--no-block', name]);
    return acted(`started ${name}`);
  },
};
