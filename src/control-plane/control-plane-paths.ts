// Where a control-plane machine keeps its keys, kubeconfigs and pods. The same on the bootstrap machine and on masters,
// so that a pod rendered for one runs unchanged on the other. `root` is another folder than /etc/kubernetes only where
// files are rendered before they are installed, and in tests.
import { join } from 'node:path';
import { controlPlanePki, kubernetesFolder, staticPodFolder } from '../contract/machine-paths.ts';
import type { MachineLeafName } from '../pki/profiles.ts';
import type { TrustBundleName } from '../pki/trust-bundles.ts';
import { type ControlPlaneComponent, controlPlaneComponents, holdingOf } from './component-holdings.ts';

/** Signers, and the leaves and bundles of programs that run as root. */
export const pkiFolder = controlPlanePki;

export function pkiFolderIn(root: string): string {
  return root === kubernetesFolder ? pkiFolder : join(root, 'pki');
}

/** All that the container of a component sees of the machine's keys. */
export function componentFolder(component: ControlPlaneComponent, root = kubernetesFolder): string {
  return `${root}/${component}`;
}

export function componentFile(component: ControlPlaneComponent, name: string): string {
  return `${componentFolder(component)}/${name}`;
}

export function certificateFile(name: MachineLeafName, root = kubernetesFolder): string {
  return `${leafFolder(name, root)}/${name}.crt`;
}

export function keyFile(name: MachineLeafName, root = kubernetesFolder): string {
  return `${leafFolder(name, root)}/${name}.key`;
}

/** The component that holds a leaf; undefined for a leaf of a program that runs as root. */
export function holderOf(leaf: MachineLeafName): ControlPlaneComponent | undefined {
  return controlPlaneComponents.find((component) => holdingOf(component).leaves.includes(leaf));
}

function leafFolder(name: MachineLeafName, root: string): string {
  const holder = holderOf(name);
  return holder === undefined ? pkiFolderIn(root) : componentFolder(holder, root);
}

/** A bundle for the programs that run as root. */
export function bundleFile(name: TrustBundleName): string {
  return `${pkiFolder}/${name}.crt`;
}

export function podFile(component: ControlPlaneComponent): string {
  return `${staticPodFolder}/${component}-pod.yaml`;
}

export function componentKubeconfig(component: ControlPlaneComponent, root = kubernetesFolder): string {
  return `${componentFolder(component, root)}/kubeconfig`;
}
