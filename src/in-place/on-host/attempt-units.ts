// The units of an attempt on its host. They belong to no configuration: the pod or the workstation writes them, and the
// attempt removes them at its end.
import { attemptFiles, inPlaceUnits, programLauncher } from '../../contract/in-place.ts';
import { unitFolder } from '../../contract/machine-paths.ts';
import { unitNames } from '../../contract/unit-names.ts';
import { prepareUnit } from '../../machine-software/node-units.ts';
import { type ServiceUnit, unitText } from '../../machine-software/unit.ts';

export interface AttemptUnit {
  readonly name: string;
  readonly path: string;
  readonly text: string;
}

/** Both are written before the first is enabled and started; the first one enables the second. */
export function attemptUnits(attemptId: string): { readonly run: AttemptUnit; readonly finish: AttemptUnit } {
  return { run: unitFile(runUnit(attemptId)), finish: unitFile(finishUnit(attemptId)) };
}

function unitFile(unit: ServiceUnit): AttemptUnit {
  return { name: unit.name, path: `${unitFolder}/${unit.name}`, text: unitText(unit) };
}

const multiUser = { WantedBy: ['multi-user.target'] };

function runUnit(attemptId: string): ServiceUnit {
  return {
    name: inPlaceUnits.run(attemptId),
    why:
      'Changes this machine for one attempt of the in-place bootstrapper, and goes on after a reboot or a power ' +
      'failure. Agent and kubelet are ordered after it, so that at a boot neither starts while it works. Every wait of ' +
      'it has its own deadline.',
    isEnabled: true,
    unit: {
      Description: `In-place bootstrap ${attemptId}`,
      Wants: ['network-online.target'],
      After: ['network-online.target', prepareUnit.name, unitNames.containerd],
      Before: [unitNames.agent, unitNames.kubelet],
      StartLimitIntervalSec: 0,
    },
    service: {
      Type: 'oneshot',
      ExecStart: command(attemptId, 'run'),
      Restart: 'on-failure',
      RestartSec: 1,
      TimeoutStartSec: 'infinity',
      // systemd may miss that the last process has gone, and a reboot waits for this long; a kill does no harm.
      TimeoutStopSec: 5,
      OOMScoreAdjust: -998,
    },
    install: multiUser,
  };
}

function finishUnit(attemptId: string): ServiceUnit {
  return {
    name: inPlaceUnits.finish(attemptId),
    why:
      'Waits until the machine is a member again, or until the failure of its attempt was reported, and removes ' +
      'everything that the attempt brought.',
    isEnabled: false,
    unit: {
      Description: `End of the in-place bootstrap ${attemptId}`,
      Wants: ['network-online.target'],
      After: ['network-online.target', inPlaceUnits.run(attemptId)],
      StartLimitIntervalSec: 0,
    },
    service: { Type: 'exec', ExecStart: command(attemptId, 'finish'), Restart: 'on-failure', RestartSec: 5 },
    install: multiUser,
  };
}

function command(attemptId: string, verb: 'run' | 'finish') {
  return { program: `${attemptFiles(attemptId).program}/${programLauncher}`, args: ['ipb', verb, attemptId] };
}
