// What can go wrong while a machine boots: when Ignition configures it, when it changes to the release that its config
// names, and when it is prepared for its kubelet.
import { exitCodes } from '../errors/exit-codes.ts';
import { errorTable } from '../errors/firstlight-error.ts';

export const nodePreparationErrors = errorTable('NODE', {
  NAME_UNFIT: {
    message: (e: { hostname: string }) => `the host name ${JSON.stringify(e.hostname)} cannot be the name of a node`,
    hint: 'Give the machine a name of lower-case letters, digits, - and . (DHCP, /etc/hostname); it is looked at again every second.',
    means:
      'A node is named after its machine. "localhost" and the empty name are what a machine has before it got its own, and Kubernetes takes only DNS names.',
    exit: exitCodes.infrastructure,
  },
  NO_ADDRESS: {
    message: (e: { networks: readonly string[]; addresses: readonly string[] }) =>
      `no address of this machine is inside ${e.networks.join(', ') || 'any network'}; it has ${e.addresses.join(', ') || 'none'}`,
    hint: 'Compare networking.machineNetwork in install-config.yaml with the addresses of the machine; it is looked at again every second.',
    means:
      'The kubelet must announce the address by which the other machines of the cluster reach it, and that address has to be in the machine network.',
    exit: exitCodes.infrastructure,
  },
  IP_FAILED: {
    message: (e: { command: string; reason: string }) => `${e.command} failed: ${e.reason || 'it gave no reason'}`,
    hint: 'Run that command on the machine; the package iproute2 must be there.',
    means: 'The addresses of the machine could not be asked for, so nobody knows which one its node should announce.',
    exit: exitCodes.infrastructure,
  },
});

export const firstBootErrors = errorTable('FIRSTBOOT', {
  IGNITION: {
    message: (e: { stage: string; reason: string }) => `Ignition's ${e.stage} stage failed: ${e.reason}`,
    hint: 'The Ignition config of this machine is wrong; journalctl -u firstlight-firstboot has every line.',
    means: 'Ignition gave up on the config of a machine. What it cannot reach it retries for ever instead.',
    exit: exitCodes.infrastructure,
  },
  SYSTEMCTL: {
    message: (e: { args: string; reason: string }) => `systemctl ${e.args} failed: ${e.reason}`,
    hint: 'journalctl -b on the machine shows what systemd made of the units.',
    means: 'systemd refused units that Ignition had written.',
    exit: exitCodes.infrastructure,
  },
});

export const releasePivotErrors = errorTable('PIVOT', {
  NOT_BY_DIGEST: {
    message: (e: { image: string }) => `the config of this machine names the release ${e.image}, which is no digest`,
    hint: 'Name it as NAME@sha256:DIGEST in RELEASE_IMAGE of /etc/firstlight/bootkube.env; `firstlight release info` prints both.',
    means: 'A tag may mean another release tomorrow: nothing that comes by it could be verified.',
    exit: exitCodes.badConfig,
  },
  UNAVAILABLE: {
    message: (e: { what: string; reason: string }) => `${e.what} cannot be had: ${e.reason}`,
    hint: 'See that the layout of RELEASE_LAYOUT, or the registry of RELEASE_IMAGE with its mirrors and credentials, has the whole release; it is tried again every few seconds.',
    means:
      'The config of the bootstrap machine names another release than the one that it booted, and a part of that release did not come.',
    exit: exitCodes.infrastructure,
  },
  NOT_VERIFIED: {
    message: (e: { what: string; reason: string }) => `${e.what} is not what the named release says: ${e.reason}`,
    hint: 'Take the layout or the repositories from a release that `firstlight release verify` accepts; nothing of this one was used.',
    means:
      'Whatever a machine takes from a release must have the digest, and where it has a key the signature, of that release.',
    exit: exitCodes.infrastructure,
  },
  PART_MISSING: {
    message: (e: { part: string; release: string }) =>
      `release ${e.release} has no image with the programs of ${e.part}`,
    hint: 'Boot the machine from the machine image of that release instead.',
    means: 'The release was built by a Firstlight that did not put these programs into images.',
    exit: exitCodes.infrastructure,
  },
});
