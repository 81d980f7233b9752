import { describe, expect, test } from 'vitest';
import { capabilityNames, payloadAnnotations, type VersionOverride } from '../contract/cluster-version.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { reasonLeftOut, settledCapabilities, treatmentOf } from './manifest-filter.ts';

const included = { [payloadAnnotations.include]: 'true' };

function deployment(annotations: Readonly<Record<string, string>>): KubernetesObject {
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a', namespace: 'n', annotations } };
}

const override: VersionOverride = { group: 'apps', kind: 'Deployment', namespace: 'n', name: 'a', unmanaged: true };
const off = { ...override, unmanaged: false };
const capability = payloadAnnotations.capability;

describe('an object of the payload is left out', () => {
  const rows = [
    ['not where it is included', included, [], undefined],
    ['without the annotation', {}, [], 'it has no include.release'],
    ['where the annotation says no', { [payloadAnnotations.include]: 'false' }, [], 'it has no include.release'],
    ['where it is excluded', { ...included, [payloadAnnotations.exclude]: 'true' }, [], 'it has exclude.release'],
    ['for another feature set', { ...included, 'release.openshift.io/feature-set': 'TechPreview' }, [], 'feature set'],
    ['not for the default one', { ...included, 'release.openshift.io/feature-set': 'A,Default' }, [], undefined],
    ['not with its capability', { ...included, [capability]: 'DNS' }, [], undefined],
    ['without it', { ...included, [capability]: 'Storage' }, [], 'capability Storage is not enabled'],
    ['without one of two', { ...included, [capability]: 'DNS+Storage' }, [], 'capability Storage is not enabled'],
    ['with one that nobody knows', { ...included, [capability]: 'Marketplace' }, [], 'is not known to this release'],
    ['by an override', included, [override], 'unmanaged'],
    ['not by one that is off', included, [off], undefined],
    ['not by one of another group', included, [{ ...override, group: 'batch' }], undefined],
    ['not by one of another namespace', included, [{ ...override, namespace: '' }], undefined],
  ] as const;

  test.each(rows)('%s', (_when, annotations, overrides, reason) => {
    const said = reasonLeftOut(deployment(annotations), { capabilities: ['DNS'], overrides });
    expect(said).toEqual(reason === undefined ? undefined : expect.stringContaining(reason));
  });
});

describe('capabilities', () => {
  const rows = [
    ['are all of them by default', undefined, [], capabilityNames, []],
    ['are those of the set', { baselineCapabilitySet: 'Minimal' }, [], ['DNS'], []],
    [
      'stay when they were there',
      { baselineCapabilitySet: 'None' },
      ['Metrics', 'DNS'],
      ['DNS', 'Metrics'],
      ['DNS', 'Metrics'],
    ],
    [
      'stay once, also when they are asked for again',
      { baselineCapabilitySet: 'Minimal', additionalEnabledCapabilities: ['Metrics'] },
      ['DNS', 'Metrics'],
      ['DNS', 'Metrics'],
      [],
    ],
  ] as const;

  test.each(rows)('%s', (_what, spec, before, enabled, implicit) => {
    expect(settledCapabilities(spec, before)).toEqual({ enabled, implicit });
  });
});

test('an object is kept, made once or removed, as its annotations say', () => {
  expect(treatmentOf(deployment(included))).toBe('keep');
  expect(treatmentOf(deployment({ [payloadAnnotations.createOnly]: 'true' }))).toBe('create-only');
  expect(treatmentOf(deployment({ [payloadAnnotations.delete]: 'true' }))).toBe('delete');
});
