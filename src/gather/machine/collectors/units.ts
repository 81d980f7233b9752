// The state of systemd's units: all of them in a list, those that failed with all that systemd says about them.
import type { MachineCollector } from '../machine-collector.ts';

const failedUnits = 'systemctl list-units --state=failed --plain --no-legend --no-pager --full';

export const unitsCollector: MachineCollector = {
  name: 'units',
  takes: 'the state of every unit, and all that systemd says about those that failed or belong to the cluster',
  parts: [
    { kind: 'command', file: 'failed-units.txt', command: failedUnits },
    { kind: 'command', file: 'units.txt', command: 'systemctl list-units --all --plain --no-pager --full' },
    {
      kind: 'script',
      script: `for unit in $(${failedUnits} | cut -d ' ' -f 1) kubelet.service containerd.service bootkube.service; do
  case $(systemctl show --property=LoadState --value -- "$unit") in loaded) ;; *) continue ;; esac
  run "unit-status/$unit.txt" systemctl status --full --no-pager --lines=200 -- "$unit"
done`,
    },
    { kind: 'command', file: 'boot.txt', command: 'systemctl is-system-running; systemctl list-jobs --no-pager' },
  ],
};
