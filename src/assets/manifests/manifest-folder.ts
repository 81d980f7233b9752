// All of manifests/ as it is on the disk: generated files, edited files, and files that the user added.
// Two files that define the same object are refused: otherwise one of them would win silently.
import { type Document, parseAllDocuments } from 'yaml';
import { placeText, positionsIn } from '../../source-text/place.ts';
import { asset, type FileSet } from '../asset.ts';
import { assetErrors } from '../errors.ts';
import { adminAccess, apiserverAccess, defaultAccounts, nodeAccess } from './access.ts';
import { agentAccess, configServerAccess, proxyAccess } from './agent-access.ts';
import { clusterConfigManifest } from './cluster-config.ts';
import { inventoryManifest } from './inventory.ts';
import { machineConfigCrdManifest, machineConfigFacts } from './machine-config.ts';
import { networkPolicyAnswer } from './network-policy.ts';
import { nodePolicy } from './node-policy.ts';
import { poolTokensManifest } from './pool-tokens.ts';
import { rootCaManifest } from './root-ca-bundle.ts';
import { torcxManifest } from './torcx.ts';

interface ManifestFile {
  readonly path: string;
  readonly content: Uint8Array;
  readonly objects: readonly string[];
}

export const manifestFolder = asset({
  name: 'manifests',
  why: 'Everything that is applied to the new cluster, your own files included.',
  neededUntil: 'it has been applied to the cluster',
  inputs: {
    clusterConfigManifest,
    rootCaManifest,
    adminAccess,
    nodeAccess,
    apiserverAccess,
    agentAccess,
    configServerAccess,
    proxyAccess,
    defaultAccounts,
    networkPolicyAnswer,
    nodePolicy,
    inventoryManifest,
    machineConfigCrdManifest,
    machineConfigFacts,
    poolTokensManifest,
    torcxManifest,
  },
  outputs: ['manifests/*'],
  isCollection: true,
  generate: () => [],
  read: (files) => readManifests(files),
});

export function readManifests(files: FileSet): readonly ManifestFile[] {
  const owners = new Map<string, string>();
  return [...files].map(([path, content]) => {
    const objects = objectsIn(path, Buffer.from(content).toString('utf8'));
    for (const object of objects) {
      const first = owners.get(object);
      if (first !== undefined) throw assetErrors.DUPLICATE_MANIFEST({ object, first, second: path });
      owners.set(object, path);
    }
    return { path, content, objects };
  });
}

function objectsIn(path: string, text: string): readonly string[] {
  const documents = parseAllDocuments(text, { version: '1.1', merge: false, prettyErrors: false });
  if (!Array.isArray(documents)) return [];
  return documents.flatMap((document) => {
    const [problem] = document.errors;
    if (problem !== undefined) {
      const place = { file: path, ...positionsIn(text)(problem.pos[0]) };
      throw assetErrors.UNREADABLE({ file: placeText(place), reason: problem.message });
    }
    return describe(path, document);
  });
}

/** `ConfigMap kube-system/cluster-config-v1`, with the API group in front where there is one. */
function describe(path: string, document: Document.Parsed): readonly string[] {
  const value: unknown = document.toJS({ maxAliasCount: 100 });
  if (value === null || value === undefined) return [];
  const { apiVersion, kind, metadata } = value as {
    apiVersion?: unknown;
    kind?: unknown;
    metadata?: { name?: unknown; namespace?: unknown };
  };
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || typeof metadata?.name !== 'string') {
    throw assetErrors.UNREADABLE({
      file: path,
      reason: 'it is no Kubernetes object: apiVersion, kind or metadata.name is missing',
    });
  }
  const group = apiVersion.includes('/') ? `${apiVersion.split('/')[0]}/` : '';
  const namespace = typeof metadata.namespace === 'string' ? `${metadata.namespace}/` : '';
  return [`${group}${kind} ${namespace}${metadata.name}`];
}
