// The errors that can stop a bootstrap.
import { exitCodes } from '../errors/exit-codes.ts';
import { errorTable } from '../errors/firstlight-error.ts';

export const bootkubeErrors = errorTable('BOOTKUBE', {
  INPUT_MISSING: {
    message: (e: { path: string }) => `${e.path} is not here`,
    hint: 'A bootstrap machine gets its inputs from bootstrap.ign. Boot it with the one of this cluster.',
    means: 'The bootstrap reads what Ignition wrote under /opt/firstlight. A part of that is missing.',
    exit: exitCodes.bootstrapFailed,
  },
  ALTERED: {
    message: (e: { stage: string; files: readonly string[] }) =>
      `the output of stage ${e.stage} is not what that stage wrote: ${e.files.join(', ')}`,
    hint: (e: { stage: string; files: readonly string[] }) =>
      `firstlight bootkube stage ${e.stage.split(' ')[0]} renders it again; look first at who changed it.`,
    means: 'Every stage records the digests of what it wrote. Stage 13 starts nothing from files that changed since.',
    exit: exitCodes.bootstrapFailed,
  },
  NOT_RENDERED: {
    message: (e: { stage: string }) => `stage ${e.stage} has not been run`,
    hint: 'firstlight bootkube render-all runs the stages 1 to 12.',
    means: 'A stage builds on the output of earlier ones, and one of them has not produced anything yet.',
    exit: exitCodes.bootstrapFailed,
  },
  BUSY: {
    message: (e: { holder: string; seconds: number }) =>
      `${e.holder} runs a stage of this bootstrap, and still does after ${e.seconds} s`,
    hint: 'Run the same command again when it has ended, or hold the bootstrap first: firstlight bootkube pause.',
    means:
      'Every stage is recorded in one journal, and a stage builds on files of the others: one process at a time may write.',
    exit: exitCodes.bootstrapFailed,
  },
  SNAPSHOT_REFUSED: {
    message: (e: { reason: string }) => `etcdutl does not restore the snapshot: ${e.reason}`,
    hint: 'firstlight restore --from with another backup; destroy the bootstrap machine first.',
    means:
      'A machine that brings a cluster back makes the data of its etcd from the snapshot of a backup, by the etcdutl of the release. That failed, and no etcd was started.',
    exit: exitCodes.bootstrapFailed,
  },
  OVER: {
    message: () => 'the bootstrap is over: this machine has no assets any more',
    hint: 'firstlight status looks at the cluster; firstlight destroy bootstrap removes this machine.',
    means:
      'After the handoff every secret and every asset is removed from the bootstrap machine. There is nothing left that a stage could render.',
    exit: exitCodes.usage,
  },
  NOT_PAUSED: {
    message: () => 'the bootstrap is not paused: bootkube.service runs one stage after the other by itself',
    hint: 'firstlight bootkube pause STAGE holds it before a stage; create cluster --step before every one.',
    means: 'bootkube next runs one stage of a bootstrap that is held. This one is not.',
    exit: exitCodes.usage,
  },
  TOO_LATE: {
    message: (e: { point: string; at: string }) => `the bootstrap cannot be held before ${e.point}: it is at ${e.at}`,
    hint: 'firstlight bootkube stages shows how far it is.',
    means: 'A bootstrap can be held only before a stage that has not begun.',
    exit: exitCodes.usage,
  },
  SERVICE_DOWN: {
    message: (e: { state: string }) => `bootkube.service does not run: systemd says ${e.state}`,
    hint: 'systemctl start --no-block bootkube.service starts it; journalctl -u bootkube says why it stopped.',
    means: 'bootkube.service runs the stages. A person lets it go on, and nothing happens while it is stopped.',
    exit: exitCodes.bootstrapFailed,
  },
  STAGE_FAILED: {
    message: (e: { stage: string; reason: string }) => `stage ${e.stage} failed: ${e.reason}`,
    hint: 'bootkube.service tries it again every second; cure the cause and it goes on, up to the next pause.',
    means: 'The stage that a person let run did not succeed. The stages before it are kept.',
    exit: exitCodes.bootstrapFailed,
  },
  NOT_APPLIED: {
    message: (e: { missing: readonly string[] }) =>
      `${e.missing.length === 1 ? 'one object is' : `${e.missing.length} objects are`} not in the API: ${e.missing.join('; ')}`,
    hint: 'Correct or remove the file in /opt/firstlight/manifests on the bootstrap machine (01-manifests/NAME is its copy): the unit runs again by itself and goes on.',
    means:
      'The API refused an object, or does not know its kind or its namespace. All other objects were applied; a bootstrap does not go on without one that was asked for.',
    exit: exitCodes.bootstrapFailed,
  },
  STILL_NEEDED: {
    message: (e: { unit: string }) => `nothing is removed: ${e.unit} has not completed, and what it needs is here`,
    hint: (e: { unit: string }) =>
      `journalctl -u ${e.unit} says what is missing; the removal starts when it has succeeded.`,
    means:
      'The add-ons are applied with the files and the credential of the bootstrap machine. They stay until that is done.',
    exit: exitCodes.bootstrapFailed,
  },
  RENDER_IMAGE: {
    message: (e: { stage: string; image: string; reason: string }) =>
      `stage ${e.stage} cannot be rendered by ${e.image}: ${e.reason}`,
    hint: 'bootkube.env and release.json name the image of each component; ctr -n k8s.io images list shows which this machine has.',
    means: 'A component is rendered by an image of the release, by digest. The one that is named is not here.',
    exit: exitCodes.bootstrapFailed,
  },
  RENDER_FAILED: {
    message: (e: { stage: string; image: string; reason: string; log: string }) =>
      `stage ${e.stage}: the render of ${e.image} failed: ${e.reason}`,
    hint: (e: { log: string }) => `${e.log} on the bootstrap machine has all that it said; the stage is tried again.`,
    means: 'The image that renders this component was run and ended with an error. Nothing of what it wrote is used.',
    exit: exitCodes.bootstrapFailed,
  },
  RENDER_HANGS: {
    message: (e: { stage: string; image: string; seconds: number; log: string }) =>
      `stage ${e.stage}: the render of ${e.image} did not end within ${e.seconds} s, and was ended`,
    hint: (e: { log: string }) => `${e.log} on the bootstrap machine has all that it said; the stage is tried again.`,
    means: 'A render reads files and writes files; it has no network and nothing to wait for.',
    exit: exitCodes.bootstrapFailed,
  },
  RENDER_OUTPUT: {
    message: (e: { stage: string; image: string; path: string; reason: string; log: string }) =>
      `stage ${e.stage}: what the render of ${e.image} wrote cannot be used: ${e.path}: ${e.reason}`,
    hint: (e: { log: string }) =>
      `The image must write plain files below its --asset-output-dir; ${e.log} on the bootstrap machine has all that it said.`,
    means: 'Whatever an image writes is looked at before the next stage may build on it. Nothing of it is used.',
    exit: exitCodes.bootstrapFailed,
  },
  NOT_RENDERED_HERE: {
    message: (e: { stage: string; known: readonly string[] }) =>
      `${e.stage} renders nothing; what renders: ${e.known.join(', ')}`,
    hint: 'firstlight bootkube stages lists the stages; 1 to 12 render.',
    means: 'Only a stage that renders can be run in a container, and only such a component can be rendered.',
    exit: exitCodes.usage,
  },
  UNKNOWN_STAGE: {
    message: (e: { number: string }) => `there is no stage ${e.number}`,
    hint: 'firstlight bootkube stages lists them.',
    means: 'The stages are numbered 1 to 15.',
    exit: exitCodes.usage,
  },
});
