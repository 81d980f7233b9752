// What `machine-config apply` is given: files with the objects that a person writes about machines. Every mistake of
// every file is reported at once, with its place; what is not a person's to write is a mistake too.
import { machineConfigGroup, machineConfigurationObject } from '../../contract/machine-config-node.ts';
import type { Host } from '../../host/host.ts';
import type { KubernetesObject } from '../../kubernetes/object.ts';
import { machineConfigErrors } from '../../machine-config/errors.ts';
import { yamlFiles } from '../../machine-config/load-objects.ts';
import { generatedAnnotation } from '../../machine-config/machine-config.ts';
import { itemsOf, readObjects } from '../../machine-config/read-objects.ts';
import { type ReadDocument, readDocuments } from '../../source-text/documents.ts';
import { type JudgedMistake, mistakeText } from '../../source-text/mistake.ts';

export interface AppliedObjects {
  readonly objects: readonly KubernetesObject[];
  readonly warnings: readonly string[];
}

/** `path`: a file, or a folder whose YAML and JSON files are read. Throws MACHINECONFIG_UNREADABLE. */
export async function readApplied(
  host: Host,
  { path, shownName }: { readonly path: string; readonly shownName: (path: string) => string },
): Promise<AppliedObjects> {
  const documents: ReadDocument[] = [];
  const mistakes: JudgedMistake[] = [];
  for (const file of await yamlFiles(host, path)) {
    const read = readDocuments(shownName(file), await host.files.readText(file));
    documents.push(...read.documents);
    mistakes.push(...read.mistakes);
  }
  const items = documents.flatMap((document) => itemsOf(document));
  mistakes.push(...readObjects(items).mistakes, ...items.flatMap(foreignMistake));
  const errors = mistakes.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw machineConfigErrors.UNREADABLE({ mistakes: errors.map(mistakeText) });
  return { objects: items.map(asWritten), warnings: mistakes.map(mistakeText) };
}

const ownKinds = ['MachineConfig', 'MachineConfigPool', 'KubeletConfig'];

function foreignMistake(item: ReadDocument): readonly JudgedMistake[] {
  const mistake = (field: string, message: string): readonly JudgedMistake[] => [
    { severity: 'error', ...item.placeOf([field]), message },
  ];
  const { apiVersion, kind, metadata } = item.value as Partial<KubernetesObject>;
  if (apiVersion === machineConfigurationObject.apiVersion && kind === machineConfigurationObject.kind) {
    if (metadata?.name === machineConfigurationObject.name) return [];
    return mistake(
      'metadata',
      `the only MachineConfiguration that is read is called ${machineConfigurationObject.name}`,
    );
  }
  if (apiVersion !== `${machineConfigGroup}/v1` || !ownKinds.includes(kind ?? '')) {
    return mistake(
      'kind',
      `${kind ?? 'an object without a kind'} is not applied by this command; ${ownKinds.join(', ')} and MachineConfiguration are`,
    );
  }
  const isGenerated = metadata?.annotations?.[generatedAnnotation] !== undefined;
  if (kind === 'MachineConfig' && (isGenerated || metadata?.name.startsWith('rendered-') === true)) {
    return mistake(
      'metadata',
      `${metadata.name} is made by the cluster, which would undo the change; write a MachineConfig with a name of your own`,
    );
  }
  return [];
}

/** Without what the API added, should the file come from `kubectl get -o yaml`. */
function asWritten({ value }: ReadDocument): KubernetesObject {
  const { apiVersion, kind, metadata, spec } = value as KubernetesObject;
  const { name, labels, annotations } = metadata;
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
    },
    spec,
  };
}
