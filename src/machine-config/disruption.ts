// What a change costs on a running machine. Each rule names the actions for one path, unit or setting; a change without
// a rule needs a reboot, and a reboot makes every other action unnecessary.

import {
  addedAuthorities,
  apiserverConfigFiles,
  bootstrapKubeconfig,
  kubeletClientCa,
  kubeletConfiguration,
  kubeletEnvironment,
  kubeletPullSecret,
  kubeProxyConfiguration,
  proxyEnvironment,
  releaseReferenceFile,
} from '../contract/machine-paths.ts';
import { unitNames } from '../contract/unit-names.ts';

export type DisruptionAction =
  | { readonly kind: 'none' }
  /** The pods of the machine go elsewhere first. */
  | { readonly kind: 'drain' }
  | { readonly kind: 'daemon-reload' }
  | { readonly kind: 'reload' | 'restart'; readonly unit: string }
  | { readonly kind: 'reboot' }
  /** Not possible on a machine that exists; only new machines will have it. */
  | { readonly kind: 'new-machines-only' };

export interface DisruptionRule {
  /** A path (with `/` at the end: everything below it), a unit, or a part of the configuration. */
  readonly match: { readonly path: string } | { readonly unit: string } | { readonly part: string };
  readonly actions: readonly DisruptionAction[];
  readonly why: string;
}

const none: DisruptionAction = { kind: 'none' };
const reboot: DisruptionAction = { kind: 'reboot' };
const daemonReload: DisruptionAction = { kind: 'daemon-reload' };
const newMachinesOnly: DisruptionAction = { kind: 'new-machines-only' };
const restart = (unit: string): DisruptionAction => ({ kind: 'restart', unit });
const reload = (unit: string): DisruptionAction => ({ kind: 'reload', unit });

const part = (name: string, action: DisruptionAction, why: string): DisruptionRule => ({
  match: { part: name },
  actions: [action],
  why,
});
const path = (name: string, actions: readonly DisruptionAction[], why: string): DisruptionRule => ({
  match: { path: name },
  actions,
  why,
});
const unit = (name: string, why: string): DisruptionRule => ({
  match: { unit: name },
  actions: [daemonReload, restart(name)],
  why,
});

const crioTrust = 'the runtime reads its trust again';

export const disruptionRules: readonly DisruptionRule[] = [
  part('osImageURL', reboot, 'another operating system'),
  part('kernelType', reboot, 'another kernel'),
  part('kernelArguments', reboot, 'the kernel reads its arguments when it starts'),
  part('extensions', reboot, 'extensions are part of the operating system image'),
  part('baseOSExtensionsContainerImage', reboot, 'extensions are part of the operating system image'),
  part('fips', newMachinesOnly, 'FIPS mode is decided when a machine is installed'),
  part('sshAuthorizedKeys', none, 'sshd reads the keys at every login'),
  part('passwordHash', none, 'login reads the password at every login'),
  part('user', newMachinesOnly, 'users are made at first boot'),
  part('group', newMachinesOnly, 'groups are made at first boot'),
  part('disks', newMachinesOnly, 'a disk is laid out once'),
  part('raid', newMachinesOnly, 'a disk is laid out once'),
  part('filesystems', newMachinesOnly, 'a disk is laid out once'),
  part('luks', newMachinesOnly, 'a disk is laid out once'),
  part('ignition', newMachinesOnly, 'Ignition runs at first boot'),

  path(kubeletPullSecret, [none], 'the kubelet reads pull secrets anew within five minutes'),
  path(apiserverConfigFiles.authentication, [none], 'kube-apiserver follows this file'),
  path(kubeletClientCa, [none], 'the kubelet follows this file'),
  path(releaseReferenceFile, [none], 'only the in-place bootstrapper reads it, in the config that it is given'),
  path(bootstrapKubeconfig, [none], 'only a machine without a certificate reads it'),
  path('/etc/kubernetes/static-pod-resources/configmaps/cloud-config/ca-bundle.pem', [none], 'followed by its readers'),
  path('/etc/nmstate/openshift/', [none], 'applied at first boot'),
  path(kubeletConfiguration, [restart(unitNames.kubelet)], 'pods keep running meanwhile'),
  path(kubeletEnvironment, [restart(unitNames.kubelet)], 'pods keep running meanwhile'),
  path('/etc/kubernetes/credential-providers/', [restart(unitNames.kubelet)], 'read when the kubelet starts'),
  path(kubeProxyConfiguration, [restart(unitNames.kubeProxy)], 'its rules stay meanwhile'),
  path('/etc/containerd/certs.d/', [none], 'containerd reads its registries at every pull'),
  path('/etc/containerd/', [restart(unitNames.containerd)], 'containers keep running meanwhile'),
  path(
    proxyEnvironment,
    [unitNames.containerd, unitNames.kubelet, unitNames.agent].map(restart),
    'read when a unit starts; pods and containers keep running meanwhile',
  ),
  path(
    `${addedAuthorities}/`,
    [unitNames.systemTrust, unitNames.containerd, unitNames.agent].map(restart),
    'the trust store is built anew, and read when a unit starts',
  ),
  path('/etc/sysctl.d/', [restart('systemd-sysctl.service')], 'applied again; a setting that was removed stays'),
  path('/etc/containers/policy.json', [reload('crio.service')], crioTrust),
  path('/etc/containers/registries.d/', [reload('crio.service')], crioTrust),
  path('/etc/crio/policies/', [reload('crio.service')], crioTrust),
  path('/etc/machine-config-daemon/no-reboot/containers-gpg.pub', [reload('crio.service')], crioTrust),
  path('/etc/containers/registries.conf', [reload('crio.service')], 'the runtime reads its registries again'),
  path(
    '/etc/pki/ca-trust/source/anchors/openshift-config-user-ca-bundle.crt',
    [restart('coreos-update-ca-trust.service'), restart('crio.service')],
    'the trust store is built anew',
  ),

  unit(unitNames.kubelet, 'pods keep running meanwhile'),
  unit(unitNames.containerd, 'containers keep running meanwhile'),
  unit(unitNames.kubeProxy, 'its rules stay meanwhile'),
  unit(unitNames.agent, 'it observes first and continues'),
];

export interface Disruption {
  readonly actions: readonly DisruptionAction[];
  readonly why: string;
}

const unknown: Disruption = { actions: [reboot], why: 'no rule says how to do with less' };

/** What users say instead, read by disruption-policies.ts. */
export interface DisruptionPolicies {
  /** A path is that file or link, or a folder and everything below it. */
  readonly files: readonly { readonly path: string; readonly actions: readonly DisruptionAction[] }[];
  readonly units: readonly { readonly name: string; readonly actions: readonly DisruptionAction[] }[];
  readonly sshKeys: readonly DisruptionAction[] | undefined;
}

export const noDisruptionPolicies: DisruptionPolicies = { files: [], units: [], sshKeys: undefined };

export function disruptionOfPart(name: string, policies = noDisruptionPolicies): Disruption {
  if (name === 'sshAuthorizedKeys' && policies.sshKeys !== undefined) return byUser('sshkey', policies.sshKeys);
  return disruptionRules.find(({ match }) => 'part' in match && match.part === name) ?? unknown;
}

export function disruptionOfUnit(name: string, policies = noDisruptionPolicies): Disruption {
  const chosen = policies.units.find((policy) => policy.name === name);
  if (chosen !== undefined) return byUser(name, chosen.actions);
  return disruptionRules.find(({ match }) => 'unit' in match && match.unit === name) ?? unknown;
}

/**
 * Of a file, a folder or a link. The longest matching path decides, of rules and policies alike; a policy replaces the
 * rule for the same path.
 */
export function disruptionOfPath(name: string, policies = noDisruptionPolicies): Disruption {
  const rules = disruptionRules.flatMap((rule) => {
    if (!('path' in rule.match)) return [];
    const { path: pattern } = rule.match;
    const folder = pattern.replace(/\/$/, '');
    const isMatch = pattern.endsWith('/') ? isAtOrBelow(name, folder) : name === pattern;
    return isMatch ? [{ length: folder.length, disruption: rule }] : [];
  });
  const chosen = policies.files
    .filter(({ path: folder }) => isAtOrBelow(name, folder))
    .map(({ path: folder, actions }) => ({ length: folder.length, disruption: byUser(folder, actions) }));
  // The sort is stable: of two equally long ones the policy stays first.
  return [...chosen, ...rules].sort((one, other) => other.length - one.length)[0]?.disruption ?? unknown;
}

function isAtOrBelow(name: string, folder: string): boolean {
  return name === folder || name.startsWith(`${folder}/`);
}

function byUser(entry: string, actions: readonly DisruptionAction[]): Disruption {
  return { actions, why: `nodeDisruptionPolicy says so for ${entry}` };
}

/** All of them together, each once, in the order in which they have to be done. */
export function combinedActions(disruptions: readonly Disruption[]): readonly DisruptionAction[] {
  const actions = disruptions.flatMap((disruption) => disruption.actions);
  const impossible = actions.filter(({ kind }) => kind === 'new-machines-only').slice(0, 1);
  if (actions.some(({ kind }) => kind === 'reboot')) return [...impossible, reboot];
  const order: readonly DisruptionAction['kind'][] = ['drain', 'daemon-reload', 'reload', 'restart'];
  const live = order.flatMap((kind) => actions.filter((action) => action.kind === kind));
  const texts = new Set<string>();
  const once = live.filter((action) => !texts.has(actionText(action)) && texts.add(actionText(action)));
  return [...impossible, ...once];
}

/** Pods have to leave the machine before these actions. */
export function needsDrain(actions: readonly DisruptionAction[]): boolean {
  return actions.some(({ kind }) => kind === 'drain' || kind === 'reboot');
}

export function actionText(action: DisruptionAction): string {
  switch (action.kind) {
    case 'none':
      return 'nothing to do';
    case 'drain':
      return 'drain';
    case 'daemon-reload':
      return 'systemctl daemon-reload';
    case 'reload':
    case 'restart':
      return `systemctl ${action.kind} ${action.unit}`;
    case 'reboot':
      return 'reboot';
    case 'new-machines-only':
      return 'new machines only';
  }
}
