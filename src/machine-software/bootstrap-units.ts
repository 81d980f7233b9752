// The units of the bootstrap machine: release-image-pivot → kubelet → bootkube → tectonic → rm-assets, and the units
// that run at the same time as bootkube. Two properties of systemd shape the chain:
//   - a oneshot that fails and is restarted fails every unit that requires it and releases every unit that merely
//     wants it, so each link starts the next one itself, after it has succeeded (ExecStartPost);
//   - "after" a oneshot means after it has ended, so a unit that runs together with bootkube is not ordered after it.
// Every unit first checks whether its work is done, so the chain may be started again at any point and after a reboot.
// Once rm-assets has written its mark, no unit of the chain starts again.

import {
  bootkubeEnvironmentFile,
  bootstrapFinished,
  configServerPaths,
  masterConfigServerPaths,
  programs,
  releaseImageFile,
} from '../contract/machine-paths.ts';
import { unitNames } from '../contract/unit-names.ts';
import { prepareUnit } from './node-units.ts';
import type { Command, ServiceUnit } from './unit.ts';

const multiUser = { WantedBy: ['multi-user.target'] };
const whileBootstrapping = [{ path: bootstrapFinished, isNegated: true }];

/** Ends at once; the started unit waits in systemd's queue until this one counts as started (its own After=). */
function thenStart(unit: string): Command {
  return { program: programs.systemctl, args: ['start', '--no-block', unit] };
}

/** They run programs of the release, so they start when it is known which one. */
export const unitsAfterPivot: readonly string[] = [
  unitNames.kubelet,
  'machine-config-server.service',
  'bootkube.service',
  'approve-csr.service',
  'progress.service',
];

const oneshot = {
  Type: 'oneshot',
  RemainAfterExit: true,
  Restart: 'on-failure',
  RestartSec: 1,
  // The stages have their own deadlines, with an error that says what is missing; a deadline of systemd would only kill
  // them.
  TimeoutStartSec: 'infinity',
} as const;

/**
 * Nearly always the two are equal, and a start of our program would cost the bootstrap a quarter of a second: a shell
 * compares the digests, and only another release needs the program.
 */
const compareReleases = `case "$RELEASE_IMAGE" in
'') echo "the config of this machine names no release; it goes on with its own" ;;
*) case "$(cat ${releaseImageFile})" in
  *"\\"\${RELEASE_IMAGE##*@}\\""*) echo "this machine runs the release that its config names: $RELEASE_IMAGE" ;;
  *) exec ${programs.firstlight} release-image-pivot ;;
  esac ;;
esac`.replaceAll('\n', ' ');

export const releaseImagePivotUnit: ServiceUnit = {
  name: 'release-image-pivot.service',
  why:
    'Sees that the machine runs the release that its config names, before anything of the cluster starts; if it booted ' +
    'another one, takes programs and images of the named one. While that fails, stage 2 of bootkube refuses to go on.',
  isEnabled: true,
  unit: {
    Description: 'Change to the release that the config of this machine names',
    Before: [...unitsAfterPivot],
    ConditionPathExists: whileBootstrapping,
    StartLimitIntervalSec: 0,
  },
  service: {
    ...oneshot,
    RestartSec: 5,
    EnvironmentFile: [{ path: bootkubeEnvironmentFile, isOptional: true }],
    ExecStart: { program: programs.shell, args: ['-c', compareReleases] },
  },
  install: multiUser,
};

export const bootkubeUnit: ServiceUnit = {
  name: 'bootkube.service',
  why:
    'Brings up the temporary control plane and hands it over to the masters. Restarted after a failure, it continues ' +
    'with the first stage whose result is not there.',
  isEnabled: true,
  unit: {
    Description: 'Bootstrap the Kubernetes control plane',
    Wants: [unitNames.kubelet],
    After: [unitNames.kubelet, prepareUnit.name],
    ConditionPathExists: whileBootstrapping,
    StartLimitIntervalSec: 0,
  },
  service: {
    ...oneshot,
    // Without the file the images are those of the release that the machine was made from.
    EnvironmentFile: [{ path: bootkubeEnvironmentFile, isOptional: true }],
    ExecStart: { program: programs.firstlight, args: ['bootkube', 'run'] },
    ExecStartPost: [thenStart('tectonic.service')],
  },
  install: multiUser,
};

export const tectonicUnit: ServiceUnit = {
  name: 'tectonic.service',
  why: 'Deploys the add-ons through the masters. bootkube.service starts it when it has succeeded.',
  isEnabled: false,
  unit: {
    Description: 'Deploy the add-ons of the cluster',
    Requisite: [bootkubeUnit.name],
    After: [bootkubeUnit.name],
    ConditionPathExists: whileBootstrapping,
    StartLimitIntervalSec: 0,
  },
  service: {
    ...oneshot,
    ExecStart: { program: programs.firstlight, args: ['tectonic'] },
    ExecStartPost: [thenStart('rm-assets.service')],
  },
};

export const rmAssetsUnit: ServiceUnit = {
  name: 'rm-assets.service',
  why:
    'Removes every secret and asset that was provisioned to this machine, and the bootstrap tokens, and leaves the ' +
    'mark that keeps the bootstrap from starting again. tectonic.service starts it when it has succeeded.',
  isEnabled: false,
  unit: {
    Description: 'Remove the bootstrap assets',
    Requisite: [tectonicUnit.name],
    After: [bootkubeUnit.name, tectonicUnit.name],
    ConditionPathExists: whileBootstrapping,
    StartLimitIntervalSec: 0,
  },
  service: { ...oneshot, ExecStart: { program: programs.firstlight, args: ['rm-assets'] } },
};

const configServerService = {
  Type: 'exec',
  Restart: 'always',
  RestartSec: 1,
  TimeoutStopSec: 15,
  ProtectHome: true,
  PrivateTmp: true,
  NoNewPrivileges: true,
  // It reads files of root only: without capabilities the keys of the components, who are other users, are closed to
  // it.
  CapabilityBoundingSet: '',
} as const;

/** For a server with a thousand connections: by default Node and libc keep memory instead of returning it. */
export const configServerEnvironment = {
  NODE_OPTIONS: '--max-old-space-size=96 --max-semi-space-size=4',
  MALLOC_ARENA_MAX: '2',
} as const;

export const machineConfigServerUnit: ServiceUnit = {
  name: 'machine-config-server.service',
  why:
    'Gives machines their configuration. It starts beside bootkube and not after it: until the configurations are ' +
    'rendered it tells whoever asks to come again, and masters must not wait a moment longer than for that.',
  isEnabled: true,
  unit: {
    Description: 'Machine Config Server',
    Wants: ['network-online.target'],
    After: ['network-online.target', prepareUnit.name],
    ConditionPathExists: whileBootstrapping,
    StartLimitIntervalSec: 0,
  },
  service: {
    ...configServerService,
    Environment: configServerEnvironment,
    ExecStart: {
      program: programs.firstlight,
      args: ['machine-config', 'serve', '--settings', configServerPaths.settings],
    },
  },
  install: multiUser,
};

export const masterConfigServerUnit: ServiceUnit = {
  name: machineConfigServerUnit.name,
  why:
    'Gives machines their configuration from what the API knows. firstlight-agent.service enables it when this master ' +
    'has the keys and an identity of its own; without them there is nothing to serve.',
  isEnabled: 'by the agent',
  unit: {
    Description: 'Machine Config Server',
    Wants: ['network-online.target'],
    After: ['network-online.target', prepareUnit.name],
    StartLimitIntervalSec: 0,
  },
  service: {
    ...configServerService,
    // More than on the bootstrap machine: the MachineConfigs and tokens of the API are kept in memory.
    Environment: { ...configServerEnvironment, NODE_OPTIONS: '--max-old-space-size=160 --max-semi-space-size=2' },
    ExecStart: {
      program: programs.firstlight,
      args: [
        'machine-config',
        'serve',
        '--mode=cluster',
        `--settings=${masterConfigServerPaths.settings}`,
        `--pki=${masterConfigServerPaths.pkiFolder}`,
        `--proxy-credentials=${masterConfigServerPaths.proxyCredentials}`,
        `--pull-secret=${masterConfigServerPaths.pullSecret}`,
      ],
    },
  },
  install: multiUser,
};

export const approveCsrUnit: ServiceUnit = {
  name: 'approve-csr.service',
  why: 'Decides about certificate requests of joining nodes while bootkube works; after the handoff the masters do.',
  isEnabled: true,
  unit: {
    Description: 'Approve certificate requests of known machines',
    After: [unitNames.kubelet, prepareUnit.name],
    ConditionPathExists: whileBootstrapping,
    StartLimitIntervalSec: 0,
  },
  service: {
    Type: 'exec',
    ExecStart: { program: programs.firstlight, args: ['approve-csr'] },
    Restart: 'on-failure',
    RestartSec: 1,
  },
  install: multiUser,
};

export const progressUnit: ServiceUnit = {
  name: 'progress.service',
  why: 'Reports how far the bootstrap is, while bootkube works, and that it is complete.',
  isEnabled: true,
  unit: {
    Description: 'Report the progress of the bootstrap',
    After: [unitNames.kubelet, prepareUnit.name],
    ConditionPathExists: whileBootstrapping,
    StartLimitIntervalSec: 0,
  },
  service: {
    Type: 'exec',
    ExecStart: { program: programs.firstlight, args: ['progress'] },
    Restart: 'on-failure',
    RestartSec: 1,
  },
  install: multiUser,
};

/** In the order in which they run. */
export const bootstrapUnits: readonly ServiceUnit[] = [
  releaseImagePivotUnit,
  machineConfigServerUnit,
  bootkubeUnit,
  approveCsrUnit,
  progressUnit,
  tectonicUnit,
  rmAssetsUnit,
];
