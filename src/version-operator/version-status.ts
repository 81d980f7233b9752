// The status of the ClusterVersion: a pure function of what was seen and of the status before. A condition that stays
// as it is keeps its time, and nothing is said that was not seen.
import {
  type CapabilityName,
  type ClusterVersionSpec,
  type ClusterVersionStatus,
  type ConditionStatus,
  capabilityNames,
  type StatusCondition,
  type VersionConditionType,
  type VersionHistoryEntry,
} from '../contract/cluster-version.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { type Condensed, condensed } from './condense-failures.ts';
import type { SettledCapabilities } from './manifest-filter.ts';
import type { PassProgress } from './run-pass.ts';
import type { OperatorState } from './task-graph.ts';

export interface ClusterVersionObject extends KubernetesObject {
  readonly spec?: ClusterVersionSpec;
  readonly status?: Partial<ClusterVersionStatus>;
}

export interface Release {
  readonly version: string;
  /** By digest. */
  readonly image: string;
}

/** A pass that is under way, or its result. */
export interface SeenPass extends PassProgress {
  readonly isOver: boolean;
}

export interface VersionFacts {
  readonly release: Release;
  readonly versionHash: string;
  readonly state: OperatorState;
  /** The pass that is under way or was the last; undefined before the first. */
  readonly pass: SeenPass | undefined;
  /** What must be there before a pass can begin, and is not. */
  readonly waitingFor: readonly string[];
  /** Why the release that the spec asks for is not taken. */
  readonly refusal: { readonly reason: string; readonly message: string } | undefined;
  readonly capabilities: SettledCapabilities;
  readonly now: Date;
}

const historyLength = 100;

/** All tasks are done, and nothing is amiss. */
export function isComplete({ pass }: Pick<VersionFacts, 'pass'>): boolean {
  return pass?.isOver === true && pass.done === pass.total && pass.failures.length === 0;
}

export function nextStatus(object: ClusterVersionObject, facts: VersionFacts): ClusterVersionStatus {
  const history = nextHistory(object, facts);
  const before = object.status?.conditions ?? [];
  const words = conditionsOf(object, facts, history);
  const now = facts.now.toISOString();
  return {
    desired: { version: facts.release.version, image: facts.release.image },
    observedGeneration: Number(object.metadata['generation'] ?? 0),
    versionHash: facts.versionHash,
    history,
    capabilities: { enabledCapabilities: facts.capabilities.enabled, knownCapabilities: capabilityNames },
    conditions: words.map((condition) => {
      const same = before.find(({ type, status }) => type === condition.type && status === condition.status);
      return { ...condition, lastTransitionTime: same?.lastTransitionTime ?? now };
    }),
  };
}

/** The newest first. What was never completed is closed when another release takes its place. */
function nextHistory({ metadata, status }: ClusterVersionObject, facts: VersionFacts): readonly VersionHistoryEntry[] {
  const { release, now } = facts;
  const [last, ...older] = status?.history ?? [];
  const isSame = last?.image === release.image && last.version === release.version;
  const at = now.toISOString();
  const entry: VersionHistoryEntry = isSame
    ? last
    : {
        state: 'Partial',
        startedTime: last === undefined ? (metadata.creationTimestamp ?? at) : at,
        completionTime: null,
        ...release,
        verified: false,
      };
  const isNew = isComplete(facts) && entry.state !== 'Completed';
  const current = isNew ? ({ ...entry, state: 'Completed', completionTime: at } as const) : entry;
  const rest =
    isSame || last === undefined ? older : [{ ...last, completionTime: last.completionTime ?? at }, ...older];
  return [current, ...rest].slice(0, historyLength);
}

/**
 * What is said while a pass runs: it begins at zero and has not met what failed the last time, so the report of the
 * last one stays until this one is further, and its failures until this one is over.
 */
export function shownPass(last: SeenPass | undefined, next: SeenPass): SeenPass {
  if (last === undefined || next.isOver || last.total !== next.total) return next;
  if (last.failures.length === 0 && last.done === last.total) return last;
  return { ...next, done: Math.max(last.done, next.done), failures: last.failures };
}

/** Where a process that starts anew goes on. */
export function stateOf({ status }: ClusterVersionObject, { version, image }: Release): OperatorState {
  const history = status?.history ?? [];
  const isOwn = (entry: VersionHistoryEntry | undefined): boolean =>
    entry?.version === version && entry.image === image;
  if (isOwn(history[0]) && history[0]?.state === 'Completed') return 'Reconciling';
  return history.some(({ state }) => state === 'Completed') ? 'Updating' : 'Initializing';
}

type Words = Omit<StatusCondition<VersionConditionType>, 'lastTransitionTime'>;

function conditionsOf(
  object: ClusterVersionObject,
  facts: VersionFacts,
  history: readonly VersionHistoryEntry[],
): readonly Words[] {
  const invalid = specProblems(object.spec ?? {});
  return [
    available(facts, history),
    failing(facts),
    progressing(facts, history),
    releaseAccepted(facts),
    upgradeable(object),
    implicitlyEnabled(facts.capabilities.implicit),
    firstPassDone(object, facts),
    ...(invalid.length === 0
      ? []
      : [words('Invalid', 'True', { reason: 'InvalidClusterVersion', message: invalid.join('; ') })]),
  ];
}

const asExpected = 'AsExpected';

function words(type: VersionConditionType, status: ConditionStatus, text: { reason: string; message: string }): Words {
  return { type, status, ...text };
}

function available({ release }: VersionFacts, history: readonly VersionHistoryEntry[]): Words {
  const done = history.find(({ state }) => state === 'Completed');
  if (done !== undefined) {
    return words('Available', 'True', { reason: asExpected, message: `Done applying ${done.version}` });
  }
  const message = `${release.version} has not been applied completely yet`;
  return words('Available', 'False', { reason: 'Initializing', message });
}

/** What keeps the pass from being complete, apart from what is on its way. */
function errorOf({ pass }: VersionFacts): Condensed | undefined {
  return condensed((pass?.failures ?? []).filter(({ effect }) => effect === 'fail'));
}

function failing(facts: VersionFacts): Words {
  const error = errorOf(facts);
  if (error !== undefined) return words('Failing', 'True', error);
  const slow = condensed((facts.pass?.failures ?? []).filter(({ effect }) => effect === 'slow'));
  if (slow !== undefined) {
    return words('Failing', 'Unknown', { reason: 'SlowClusterOperator', message: slow.message });
  }
  return words('Failing', 'False', { reason: asExpected, message: '' });
}

function progressing(facts: VersionFacts, [current]: readonly VersionHistoryEntry[]): Words {
  const { release, pass, waitingFor, state } = facts;
  const { version } = release;
  const error = errorOf(facts);
  if (state === 'Reconciling' && current?.state === 'Completed') {
    if (error === undefined) {
      return words('Progressing', 'False', { reason: asExpected, message: `Cluster version is ${version}` });
    }
    const message = `Error while reconciling ${version}: ${error.message}`;
    return words('Progressing', 'False', { reason: error.reason, message });
  }
  if (isComplete(facts)) {
    return words('Progressing', 'False', { reason: asExpected, message: `Cluster version is ${version}` });
  }
  if (waitingFor.length > 0) {
    const message = `Working towards ${version}: waiting for ${waitingFor.join(', ')}`;
    return words('Progressing', 'True', { reason: 'WaitingForConfiguration', message });
  }
  if (error !== undefined) {
    const message = `Unable to apply ${version}: ${error.message}`;
    return words('Progressing', 'True', { reason: error.reason, message });
  }
  const message = `Working towards ${version}${fraction(pass)}`;
  return words('Progressing', 'True', { reason: 'Progressing', message });
}

function fraction(pass: PassProgress | undefined): string {
  if (pass === undefined || pass.total === 0) return '';
  const percent = Math.floor((100 * pass.done) / pass.total);
  const waits = pass.failures
    .filter(({ effect }) => effect !== 'fail')
    .map(({ operator, object }) => operator ?? object);
  const waiting = waits.length === 0 ? '' : `, waiting on ${waits.sort().join(', ')}`;
  return `: ${pass.done} of ${pass.total} done (${percent}% complete)${waiting}`;
}

function releaseAccepted({ refusal, release }: VersionFacts): Words {
  if (refusal !== undefined) return words('ReleaseAccepted', 'False', refusal);
  const message = `Payload loaded version="${release.version}" image="${release.image}"`;
  return words('ReleaseAccepted', 'True', { reason: 'PayloadLoaded', message });
}

function upgradeable({ spec }: ClusterVersionObject): Words {
  const unmanaged = (spec?.overrides ?? []).filter((override) => override.unmanaged);
  if (unmanaged.length === 0) return words('Upgradeable', 'True', { reason: asExpected, message: '' });
  const names = unmanaged.map(
    ({ kind, namespace, name }) => `${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`,
  );
  const message = `spec.overrides leaves ${names.join(', ')} alone; remove the overrides before the next release`;
  return words('Upgradeable', 'False', { reason: 'ClusterVersionOverridesSet', message });
}

function implicitlyEnabled(implicit: readonly CapabilityName[]): Words {
  const type = 'ImplicitlyEnabledCapabilities';
  if (implicit.length === 0) {
    return words(type, 'False', { reason: asExpected, message: 'Capabilities match configured spec' });
  }
  const message = `The following capabilities could not be disabled: ${implicit.join(', ')}`;
  return words(type, 'True', { reason: 'CapabilitiesImplicitlyEnabled', message });
}

/** Once done, it stays done. */
function firstPassDone({ status }: ClusterVersionObject, { pass, release }: VersionFacts): Words {
  const known = status?.conditions?.find(({ type }) => type === 'FirstPassDone');
  const { reason, message } = { reason: asExpected, message: `All manifests of ${release.version} were tried once` };
  if (known?.status === 'True') return words('FirstPassDone', 'True', { reason, message: known.message });
  if (pass?.isThrough === true) return words('FirstPassDone', 'True', { reason, message });
  const waits = { reason: 'Initializing', message: `Not all manifests of ${release.version} were tried yet` };
  return words('FirstPassDone', 'False', waits);
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** What the schema of the kind cannot say. */
function specProblems({ clusterID, overrides = [], desiredUpdate }: ClusterVersionSpec): readonly string[] {
  const keys = overrides.map(({ group, kind, namespace, name }) => [group, kind, namespace, name].join('/'));
  const twice = keys.find((key, at) => keys.indexOf(key) !== at);
  const isEmpty = desiredUpdate !== undefined && !desiredUpdate.image && !desiredUpdate.version;
  return [
    ...(clusterID === undefined || uuid.test(clusterID) ? [] : [`spec.clusterID ${clusterID} is not a UUID`]),
    ...(twice === undefined ? [] : [`spec.overrides names ${twice} twice`]),
    ...(isEmpty ? ['spec.desiredUpdate names neither an image nor a version'] : []),
  ];
}

/**
 * Why the release that the spec asks for is not taken; undefined where it asks for no other. Another release is brought
 * by its own version operator: whoever fetches its payload and starts that operator belongs here.
 */
export function refusalOf({ desiredUpdate }: ClusterVersionSpec, { version, image }: Release): VersionFacts['refusal'] {
  const { version: wantedVersion, image: wantedImage } = desiredUpdate ?? {};
  const isOther = (wanted: string | undefined, own: string): boolean => Boolean(wanted) && wanted !== own;
  if (!isOther(wantedVersion, version) && !isOther(wantedImage, image)) return undefined;
  const asked = `version="${wantedVersion ?? ''}" image="${wantedImage ?? ''}"`;
  const message = `Retrieving payload failed ${asked}: this operator runs ${version} and fetches no other release`;
  return { reason: 'RetrievePayload', message };
}
