// What can go wrong when a person asks for an attempt of the in-place bootstrapper, follows one, or adopts a machine.
import type { InPlacePhase, PreflightResult } from '../../contract/in-place.ts';
import { type Missing, missingText } from '../../contract/missing.ts';
import type { Reason } from '../../diagnose/diagnose.ts';
import { diagnosisLines } from '../../diagnose/diagnosis-lines.ts';
import { exitCodes } from '../../errors/exit-codes.ts';
import { errorTable } from '../../errors/firstlight-error.ts';

interface EndedAttempt {
  readonly node: string;
  readonly attempt: string;
  readonly phase: InPlacePhase;
  /** As a person reads it. */
  readonly reason: string;
}

export const attemptErrors = errorTable('IPB', {
  NOT_INSTALLED: {
    message: (e: { what: string }) => `the cluster has no in-place bootstrapper: ${e.what} is missing`,
    hint: 'It is deployed with the add-ons. firstlight wait-for install-complete waits for them.',
    means:
      'Namespace, resources and DaemonSet of the in-place bootstrapper are applied by tectonic.service on the bootstrap machine after the handoff. A cluster that was made before they existed does not have them.',
    exit: exitCodes.usage,
  },
  NODE_UNKNOWN: {
    message: (e: { node: string; known: readonly string[] }) =>
      `no pool of the cluster has a node ${e.node}; they have ${e.known.join(', ')}`,
    hint: 'firstlight node list shows them all. A machine that is no node is adopted: firstlight ipb adopt NAME --address A.',
    means:
      'An attempt needs the Node object of the machine, for the label that starts it and for what is restored at the end, and the pool of the node, whose configuration the machine gets.',
    exit: exitCodes.usage,
  },
  POOL_UNFIT: {
    message: (e: { pool: string; reason: string }) =>
      `no node of the pool ${e.pool} can be changed in place: ${e.reason}`,
    hint: 'firstlight machine-config status shows the pools, their nodes and what is wrong with them.',
    means: 'An attempt brings the configuration of the pool to a machine, so the pool must have one, and nodes.',
    exit: exitCodes.usage,
  },
  SECRET_MISSING: {
    message: (e: { node: string; secret: string }) => `node ${e.node} has no Secret ${e.secret}`,
    hint: (e: { node: string }) => `firstlight ipb prepare ${e.node} makes it.`,
    means:
      'The Secret tells the machine where to get its configuration, with which token, and until when it may start.',
    exit: exitCodes.usage,
  },
  SECRET_INCOMPLETE: {
    message: (e: { secret: string; keys: readonly string[] }) => `the Secret ${e.secret} lacks ${e.keys.join(', ')}`,
    hint: 'firstlight ipb prepare NODE makes a complete one; preflight P01 would refuse this one.',
    means: 'Which keys a Secret needs depends on its key os. docs/in-place.md has the table.',
    exit: exitCodes.usage,
  },
  SECRET_EXPIRED: {
    message: (e: { node: string; secret: string; at: string }) => `the Secret ${e.secret} expired at ${e.at}`,
    hint: (e: { node: string }) => `firstlight ipb prepare ${e.node} makes a new one.`,
    means:
      'No attempt begins after the time in the key not-after: what was prepared long ago must not start by surprise.',
    exit: exitCodes.usage,
  },
  ATTEMPT_USED: {
    message: (e: { node: string; attempt: string; phase: InPlacePhase }) =>
      `the attempt ${e.attempt} of node ${e.node} has ended with ${e.phase}, and no attempt runs twice`,
    hint: (e: { node: string }) => `firstlight ipb prepare ${e.node} makes a Secret for a new attempt.`,
    means: 'The id of an attempt is in the Secret. A second start with the same id could apply the same change twice.',
    exit: exitCodes.usage,
  },
  ATTEMPT_RUNNING: {
    message: (e: { node: string; attempt: string; phase: InPlacePhase }) =>
      `the attempt ${e.attempt} of node ${e.node} is in phase ${e.phase}`,
    hint: (e: { node: string }) =>
      `firstlight ipb watch ${e.node} follows it; firstlight ipb abort ${e.node} ends it while nothing is changed yet.`,
    means: 'A machine has one attempt at a time.',
    exit: exitCodes.usage,
  },
  RUN_RUNNING: {
    message: (e: { pool: string; run: string }) => `the run ${e.run} of pool ${e.pool} is under way`,
    hint: (e: { pool: string }) =>
      `firstlight ipb watch --pool ${e.pool} follows it; firstlight ipb abort --pool ${e.pool} ends it.`,
    means: 'A pool has one run at a time, so that no more of its nodes are out of use than the run allows.',
    exit: exitCodes.usage,
  },
  NO_ATTEMPT: {
    message: (e: { what: string }) => `there is no attempt ${e.what}`,
    hint: 'firstlight ipb history lists the attempts of the cluster.',
    means: 'Neither a running nor an ended attempt fits what was asked for.',
    exit: exitCodes.usage,
  },
  TOO_LATE: {
    message: (e: { node: string; phase: InPlacePhase }) => `node ${e.node} is in phase ${e.phase} and changes already`,
    hint: (e: { node: string }) =>
      `firstlight ipb watch ${e.node} follows it. A change that fails is undone by itself.`,
    means:
      'An attempt can be ended until it changes something. From then on it is finished or undone, never left half.',
    exit: exitCodes.usage,
  },
  FAILED: {
    message: (e: { ended: readonly EndedAttempt[]; dirOption: string }) =>
      e.ended.map(({ node, phase, reason }) => `${node} ended with ${phase}: ${reason}`).join('\n'),
    hint: (e: { ended: readonly EndedAttempt[]; dirOption: string }) =>
      e.ended.map(({ node, phase }) => nextSteps(node, phase, e.dirOption)).join('\n'),
    means:
      'PreflightFailed: nothing was changed. RolledBack: the change failed and was undone. Failed: the phase and the code say where it ended. The node stays cordoned, and docs/in-place.md says what each code means.',
    exit: exitCodes.notStable,
  },
  RUN_STOPPED: {
    message: (e: { pool: string; reason: string }) => `the run of pool ${e.pool} stops: ${e.reason}`,
    hint: (e: { pool: string }) =>
      `No further node changes. When the cause is mended, firstlight ipb start --pool ${e.pool} begins a new run.`,
    means:
      'Two failures in a row stop the line, so that a configuration that no machine can take does not reach them all.',
    exit: exitCodes.notStable,
  },
  STUCK: {
    message: (e: {
      nodes: readonly string[];
      missing: readonly Missing[];
      reasons: readonly Reason[];
      command: string;
      dirOption: string;
    }) => `the attempt on ${e.nodes.join(', ')} is not over`,
    hint: (e: { missing: readonly Missing[]; reasons: readonly Reason[]; command: string; dirOption: string }) =>
      diagnosisLines({
        seen: e.missing.length === 0 ? ['nothing at all'] : e.missing.map(missingText),
        reasons: e.reasons,
        dirOption: e.dirOption,
        closing: [`then, to go on watching: firstlight ${e.command}${e.dirOption}`],
      }).join('\n'),
    means:
      'Nothing has moved for as long as --stall-after allows, or the time of --timeout is over. Nothing was undone: the attempt goes on by itself within the limits of its phases.',
    exit: exitCodes.notStable,
  },
  NODE_ALIVE: {
    message: (e: { node: string }) => `${e.node} is a node of this cluster, and its kubelet reports`,
    hint: (e: { node: string }) =>
      `firstlight ipb prepare ${e.node} && firstlight ipb start ${e.node} changes it by a pod. For another machine, choose another name.`,
    means:
      'A machine is brought over SSH only where no pod can do it: it is no node yet, or its kubelet has been silent for so long that its condition Ready is Unknown.',
    exit: exitCodes.usage,
  },
  SSH: {
    message: (e: { user: string; address: string; reason: string }) => `ssh ${e.user}@${e.address}: ${e.reason}`,
    hint: 'Try the same by hand: ssh -i KEY USER@ADDRESS id. --user and --ssh-key say who logs in.',
    means: 'The machine is reached over SSH, by the ssh program of this host, with a key and without a password.',
    exit: exitCodes.infrastructure,
  },
  NOT_ROOT: {
    message: (e: { user: string; address: string; reason: string }) =>
      `${e.user} cannot become root on ${e.address}: ${e.reason}`,
    hint: 'Log in as root (--user root), or allow the user sudo without a password.',
    means: 'The host unit of an attempt stops services and writes below /etc, for which it must be root.',
    exit: exitCodes.infrastructure,
  },
  OTHER_ARCHITECTURE: {
    message: (e: { address: string; has: string; needs: string }) =>
      `${e.address} has a processor ${e.has}, and the release is for ${e.needs}`,
    hint: 'firstlight release build on a host with that processor makes a release for it.',
    means: 'The program that is copied to the machine is that of the release, and runs on one kind of processor.',
    exit: exitCodes.infrastructure,
  },
  MACHINE_REFUSED: {
    message: (e: { node: string; failed: readonly PreflightResult[] }) =>
      `${e.node} cannot be adopted:\n${e.failed.map(({ message }) => `  ${message}`).join('\n')}`,
    hint: 'Nothing on the machine was changed. Mend what is named above and run the command again.',
    means: 'All checks of the preflight ran on the machine, and these failed. firstlight explain preflight lists them.',
    exit: exitCodes.infrastructure,
  },
});

function nextSteps(node: string, phase: InPlacePhase, dirOption: string): string {
  const again = `firstlight ipb prepare ${node}${dirOption} && firstlight ipb start ${node}${dirOption}`;
  if (phase === 'PreflightFailed') return `Nothing on ${node} was changed. When it is mended: ${again}`;
  const looked = `firstlight ipb history ${node}${dirOption} shows where it stopped`;
  return `${node} stays cordoned; ${looked}. A new attempt: ${again}`;
}
