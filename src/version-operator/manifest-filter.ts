// Which objects of the payload a cluster gets, and why it does not get the others. Pure: the same payload, capabilities
// and overrides always give the same answer.
import {
  type CapabilitiesSpec,
  type CapabilityName,
  capabilityNames,
  enabledCapabilities,
  payloadAnnotations,
  type VersionOverride,
} from '../contract/cluster-version.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';

export interface SettledCapabilities {
  /** In the order of the table; with those that cannot be turned off any more. */
  readonly enabled: readonly CapabilityName[];
  /** Enabled because they were so before, against the spec. */
  readonly implicit: readonly CapabilityName[];
}

/** What was installed stays: users may depend on it by now, and nothing here deletes what they use. */
export function settledCapabilities(
  spec: CapabilitiesSpec | undefined,
  before: readonly CapabilityName[],
): SettledCapabilities {
  const wanted = enabledCapabilities(spec);
  const implicit = capabilityNames.filter((name) => before.includes(name) && !wanted.includes(name));
  return { enabled: capabilityNames.filter((name) => wanted.includes(name) || implicit.includes(name)), implicit };
}

export interface FilterFacts {
  readonly capabilities: readonly CapabilityName[];
  readonly overrides: readonly VersionOverride[];
}

type FilterRule = (object: KubernetesObject, facts: FilterFacts) => string | undefined;

const featureSetAnnotation = 'release.openshift.io/feature-set';

const rules: readonly FilterRule[] = [
  (object) =>
    annotation(object, payloadAnnotations.include) === 'true'
      ? undefined
      : `it has no ${payloadAnnotations.include}=true`,
  (object) =>
    annotation(object, payloadAnnotations.exclude) === 'true' ? `it has ${payloadAnnotations.exclude}=true` : undefined,
  (object) => {
    const sets = annotation(object, featureSetAnnotation)?.split(',');
    return sets === undefined || sets.includes('Default')
      ? undefined
      : `it is for feature set ${sets.join(' or ')} only`;
  },
  (object, { capabilities }) => {
    const needed = annotation(object, payloadAnnotations.capability)?.split('+') ?? [];
    const known: readonly string[] = capabilityNames;
    const strange = needed.find((name) => !known.includes(name));
    if (strange !== undefined) return `capability ${strange} is not known to this release`;
    const off = needed.filter((name) => !capabilities.includes(name as CapabilityName));
    return off.length === 0 ? undefined : `capability ${off.join(' and ')} is not enabled`;
  },
  (object, { overrides }) =>
    overrides.some((override) => override.unmanaged && isMeant(override, object))
      ? 'an override says that it is unmanaged'
      : undefined,
];

/** Undefined where the object is applied. */
export function reasonLeftOut(object: KubernetesObject, facts: FilterFacts): string | undefined {
  for (const rule of rules) {
    const reason = rule(object, facts);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

export type Treatment = 'keep' | 'create-only' | 'delete';

export function treatmentOf(object: KubernetesObject): Treatment {
  if (annotation(object, payloadAnnotations.delete) === 'true') return 'delete';
  return annotation(object, payloadAnnotations.createOnly) === 'true' ? 'create-only' : 'keep';
}

function isMeant(
  { group, kind, namespace, name }: VersionOverride,
  { apiVersion, ...object }: KubernetesObject,
): boolean {
  const ownGroup = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
  const { metadata } = object;
  return (
    group === ownGroup && kind === object.kind && namespace === (metadata.namespace ?? '') && name === metadata.name
  );
}

function annotation({ metadata }: KubernetesObject, name: string): string | undefined {
  return metadata.annotations?.[name];
}
