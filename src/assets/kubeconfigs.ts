// Kubeconfigs of users and machines: the identity and the address with which they reach the API.
import {
  adminKubeconfigPath,
  breakGlassKubeconfigPath,
  internalKubeconfigPath,
  loopbackKubeconfigPath,
} from '../contract/asset-folder.ts';
import { localApiUrl } from '../contract/ports.ts';
import { type KubeconfigOptions, kubeconfigText } from '../kubernetes/kubeconfig.ts';
import { kubeletKubeconfigOptions } from '../machine-config/kubelet-kubeconfig.ts';
import { type ApiEndpoint, apiEndpoint } from './api-endpoint.ts';
import { type Asset, asset, type InputAssets, type InputValues, textOf } from './asset.ts';
import { type ClusterNames, clusterNames } from './cluster-names.ts';
import type { StoredCredential } from './credential-files.ts';
import { adminLeaf, breakGlassLeaf } from './leaves.ts';
import { apiserverServingSigner } from './signers.ts';

interface KubeconfigAsset<Inputs extends InputAssets> {
  readonly name: string;
  readonly why: string;
  readonly neededUntil: string;
  readonly path: string;
  readonly inputs: Inputs;
  readonly options: (inputs: InputValues<Inputs>) => KubeconfigOptions;
}

function kubeconfigAsset<Inputs extends InputAssets>(declaration: KubeconfigAsset<Inputs>): Asset<string, Inputs> {
  const { name, why, neededUntil, path, inputs, options } = declaration;
  return asset({
    name,
    why,
    neededUntil,
    inputs,
    outputs: [path],
    generate: (values) => [{ path, content: kubeconfigText(options(values)), mode: 0o600 }],
    read: (files) => textOf(files),
  });
}

function byCertificate(leaf: StoredCredential): NonNullable<KubeconfigOptions['credential']> {
  return { kind: 'certificate', certificatePem: leaf.certificatePem, keyPem: leaf.key.privatePem.reveal() };
}

function apiUrlFromHere(names: ClusterNames, endpoint: ApiEndpoint | undefined): string {
  return endpoint === undefined ? names.apiUrl : `https://${endpoint.address}:${endpoint.port}`;
}

export const adminKubeconfig = kubeconfigAsset({
  name: 'admin-kubeconfig',
  why: 'What a person uses every day, as a member of a group that can be taken its rights again.',
  neededUntil: 'the cluster is destroyed; a new one is made when its certificate nears its end',
  path: adminKubeconfigPath,
  inputs: { names: clusterNames, endpoint: apiEndpoint, ca: apiserverServingSigner, admin: adminLeaf },
  options: ({ names, endpoint, ca, admin }) => ({
    cluster: names.clusterName,
    server: apiUrlFromHere(names, endpoint),
    caPem: ca.certificatePem,
    user: 'admin',
    credential: byCertificate(admin),
  }),
});

export const breakGlassKubeconfig = kubeconfigAsset({
  name: 'break-glass-kubeconfig',
  why: 'For the day on which RBAC itself is broken. Keep it in a safe; it never leaves the workstation.',
  neededUntil: 'the cluster is destroyed',
  path: breakGlassKubeconfigPath,
  inputs: { names: clusterNames, endpoint: apiEndpoint, ca: apiserverServingSigner, admin: breakGlassLeaf },
  options: ({ names, endpoint, ca, admin }) => ({
    cluster: names.clusterName,
    server: apiUrlFromHere(names, endpoint),
    caPem: ca.certificatePem,
    user: 'break-glass-admin',
    credential: byCertificate(admin),
  }),
});

export const internalKubeconfig = kubeconfigAsset({
  name: 'internal-kubeconfig',
  why: 'The same administrator for programs inside the network of the cluster, where the API has its internal name.',
  neededUntil: 'the cluster is destroyed; a new one is made when its certificate nears its end',
  path: internalKubeconfigPath,
  inputs: { names: clusterNames, ca: apiserverServingSigner, admin: adminLeaf },
  options: ({ names, ca, admin }) => ({
    cluster: names.clusterName,
    server: names.apiInternalUrl,
    caPem: ca.certificatePem,
    user: 'admin',
    credential: byCertificate(admin),
  }),
});

export const loopbackKubeconfig = kubeconfigAsset({
  name: 'loopback-kubeconfig',
  why: 'On the bootstrap machine the API answers on localhost before any name resolves.',
  neededUntil: 'the bootstrap is complete; rm-assets removes it from the bootstrap machine',
  path: loopbackKubeconfigPath,
  inputs: { names: clusterNames, ca: apiserverServingSigner, admin: adminLeaf },
  options: ({ names, ca, admin }) => ({
    cluster: names.clusterName,
    server: localApiUrl,
    caPem: ca.certificatePem,
    user: 'loopback',
    credential: byCertificate(admin),
  }),
});

export const kubeletKubeconfigAsset = kubeconfigAsset({
  name: 'kubelet-kubeconfig',
  why: 'Where a new kubelet asks for its certificate. It names nobody: the config server adds a token for one use.',
  neededUntil: 'no machine joins any more',
  path: 'auth/kubeconfig-kubelet',
  inputs: { names: clusterNames, ca: apiserverServingSigner },
  options: ({ names: { clusterName, apiInternalUrl }, ca: { certificatePem } }) =>
    kubeletKubeconfigOptions({ clusterName, server: apiInternalUrl, caPem: certificatePem }),
});
