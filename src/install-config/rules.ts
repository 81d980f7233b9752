// Every rule between fields, in the order they are checked and explained. To add one: a value in one of the lists.
import { areRelated, type FieldPath } from '../source-text/field-path.ts';
import { authenticationRules } from './authentication-rules.ts';
import { clusterDomain, platformOf } from './cluster-facts.ts';
import { machineRules } from './machine-rules.ts';
import { networkRules } from './network-rules.ts';
import { optionRules } from './option-rules.ts';
import type { ConfigRule, RuleFinding, RuleInput } from './rule.ts';

const name = ['metadata', 'name'] as const;
const domainMax = 253;
/** The longest name put in front of the cluster's domain. */
const longestPrefix = 'bootstrap.';

const generalRules: readonly ConfigRule[] = [
  {
    name: 'one-platform',
    says: 'Exactly one platform is named.',
    severity: 'mistake',
    reads: [['platform']],
    find: ({ config }) => {
      const named = Object.keys(config.platform);
      if (named.length === 1) return [];
      const message = named.length === 0 ? 'platform is empty' : `platform names ${named.join(' and ')} at once`;
      return [{ path: ['platform'], message, allowed: 'one of {local: {}} and {none: {}}' }];
    },
  },
  {
    name: 'domain-length',
    says: 'Names in the cluster’s domain, <name>.<baseDomain>, have at most 253 characters.',
    severity: 'mistake',
    reads: [name, ['baseDomain']],
    find: ({ config, isWritten }) => {
      const { length } = `${longestPrefix}${clusterDomain(config)}`;
      if (length <= domainMax) return [];
      const path = isWritten(['baseDomain']) ? ['baseDomain'] : name;
      return [
        { path, message: `names in the cluster’s domain would have ${length} characters, DNS allows ${domainMax}` },
      ];
    },
  },
  {
    name: 'local-name-is-one-label',
    says: 'On platform local the cluster’s name has no dot: it is part of the names of machines.',
    severity: 'mistake',
    reads: [name, ['platform']],
    find: ({ config }) => {
      if (platformOf(config) !== 'local' || !config.metadata.name.includes('.')) return [];
      return [
        { path: name, message: `metadata.name ${config.metadata.name} has a dot, which platform local cannot use` },
      ];
    },
  },
];

export const configRules: readonly ConfigRule[] = [
  ...generalRules,
  ...authenticationRules,
  ...optionRules,
  ...machineRules,
  ...networkRules,
];

/** What the rules of one severity find, leaving out those that read a suspect field. */
export function applyRules(
  input: RuleInput,
  { severity, suspects }: { readonly severity: ConfigRule['severity']; readonly suspects: readonly FieldPath[] },
): readonly RuleFinding[] {
  return configRules
    .filter((rule) => rule.severity === severity)
    .filter(({ reads }) => !reads.some((read) => suspects.some((suspect) => areRelated(read, suspect))))
    .flatMap((rule) => rule.find(input));
}
