// Capabilities, mirrors and feature gates, and the fields of openshift-install that have one value here: a file made
// for it is read as long as it asks for nothing else.
import { z } from 'zod';
import { type CapabilitySet, capabilityNames, capabilitySets } from '../contract/cluster-version.ts';
import { repositoryMistake } from './credentials.ts';
import { textField } from './text-field.ts';

const repository = textField({ mistake: repositoryMistake, allowed: 'host/path without scheme, tag and digest' });

const imageDigestSourceSchema = z.strictObject({
  source: repository.meta({
    description: 'The repository that images name.',
    examples: ['registry.example.test/team'],
  }),
  mirrors: z
    .array(repository)
    .default([])
    .meta({
      description:
        'Where images named by digest are looked for first, in this order. The path ends with the path of source: ' +
        'mirror.example.test/copies/team can mirror registry.example.test/team.',
      examples: [['mirror.example.test/team']],
    }),
});

const featureGateSchema = textField({
  mistake: (text) => (/^[A-Za-z][A-Za-z0-9]*=(true|false)$/.test(text) ? undefined : 'is not a feature gate'),
  allowed: 'Name=true or Name=false',
});

const setNames = Object.keys(capabilitySets) as CapabilitySet[];
const setText = (set: CapabilitySet): string => capabilitySets[set].join(', ') || 'none';
const capability = z.enum(capabilityNames);

const capabilitiesSchema = z.strictObject({
  baselineCapabilitySet: z
    .enum(setNames)
    .default('Full')
    .meta({ description: `Where to begin. ${setNames.map((set) => `${set}: ${setText(set)}`).join('. ')}.` }),
  additionalEnabledCapabilities: z
    .array(capability)
    .default([])
    .meta({ description: 'What the cluster has besides that set.', examples: [['Storage']] }),
  disabledCapabilities: z
    .array(capability)
    .default([])
    .meta({ description: 'What of that set the cluster does not have.', examples: [['Registry']] }),
});

const refused = (reason: string) => (issue: { readonly code?: string }) =>
  issue.code === 'invalid_value' ? reason : undefined;

export const optionFields = {
  capabilities: capabilitiesSchema.prefault({}).meta({
    description:
      'What the cluster brings besides Kubernetes itself. It becomes spec.capabilities of the ClusterVersion, where ' +
      'more can be enabled while the cluster stands.',
  }),
  imageDigestSources: z
    .array(imageDigestSourceSchema)
    .max(100)
    .default([])
    .meta({
      description:
        'Mirrors of registries, tried before the registry itself, for images that are named by digest. A tag is ' +
        'always looked up where it belongs.',
    }),
  featureSet: z.enum(['Default', 'CustomNoUpgrade']).default('Default').meta({
    description: 'CustomNoUpgrade permits featureGates; such a cluster is not meant to be upgraded.',
  }),
  featureGates: z
    .array(featureGateSchema)
    .max(100)
    .default([])
    .meta({
      description:
        'Feature gates of Kubernetes, as Name=true or Name=false, for every component. A name that this version ' +
        'does not know keeps its components from starting.',
      examples: [['SomeGate=true']],
    }),
  publish: z
    .literal('External', { error: refused('needs a cloud; your network decides who reaches the API') })
    .default('External')
    .meta({ description: 'Who reaches the API: whoever your network lets through.' }),
  fips: z
    .literal(false, { error: refused('cannot be had: the Kubernetes that is installed is not validated for FIPS 140') })
    .default(false)
    .meta({ description: 'Not available.' }),
};
