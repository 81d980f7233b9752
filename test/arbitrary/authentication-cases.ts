// For every rule about issuers of tokens, a section that breaks it, what is said, and one that keeps it.

interface AuthenticationCase {
  readonly rule: string;
  readonly broken: string;
  readonly says: string;
  readonly kept: string;
}

interface Parts {
  readonly issuer?: object;
  readonly mappings?: object;
  readonly more?: object;
}

/** An issuer that keeps every rule, with some of its parts replaced. */
function issuer({ issuer: changed = {}, mappings = {}, more = {} }: Parts = {}): object {
  return {
    issuer: { url: 'https://login.example.test', audiences: ['kubernetes'], ...changed },
    claimMappings: { username: { claim: 'sub', prefix: 'oidc:' }, ...mappings },
    ...more,
  };
}

const section = (...issuers: readonly object[]): string => `authentication: ${JSON.stringify({ jwt: issuers })}`;
const byEmail = { username: { expression: 'claims.email' } };
const looksAtEmail = [{ expression: 'claims.?email_verified.orValue(true) == true' }];

export const authenticationCases: readonly AuthenticationCase[] = [
  {
    rule: 'issuers-differ',
    broken: section(issuer(), issuer()),
    says: 'the issuer https://login.example.test is given twice',
    kept: section(issuer(), issuer({ issuer: { url: 'https://other.example.test' } })),
  },
  {
    rule: 'discovery-elsewhere',
    broken: section(issuer({ issuer: { discoveryURL: 'https://login.example.test/' } })),
    says: 'discoveryURL is the url of the issuer; leave it out',
    kept: section(issuer({ issuer: { discoveryURL: 'https://intern.example.test/discovery' } })),
  },
  {
    rule: 'audiences-differ',
    broken: section(issuer({ issuer: { audiences: ['one', 'two'] } })),
    says: 'more than one audience needs audienceMatchPolicy: MatchAny',
    kept: section(issuer({ issuer: { audiences: ['one', 'two'], audienceMatchPolicy: 'MatchAny' } })),
  },
  {
    rule: 'claim-or-expression',
    broken: section(issuer({ mappings: { uid: {} } })),
    says: 'claimMappings.uid has neither a claim nor an expression',
    kept: section(issuer({ mappings: { uid: { claim: 'sub' } } })),
  },
  {
    rule: 'claim-has-prefix',
    broken: section(issuer({ mappings: { groups: { claim: 'groups' } } })),
    says: 'groups has a claim and no prefix',
    kept: section(issuer({ mappings: { groups: { claim: 'groups', prefix: '' } } })),
  },
  {
    rule: 'claim-rule-fields',
    broken: section(issuer({ more: { claimValidationRules: [{ expression: 'true', requiredValue: 'x' }] } })),
    says: 'a rule with an expression has a requiredValue',
    kept: section(issuer({ more: { claimValidationRules: [{ claim: 'hd', requiredValue: 'x' }] } })),
  },
  {
    rule: 'user-rules-differ',
    broken: section(issuer({ more: { userValidationRules: [{ expression: 'true' }, { expression: 'true' }] } })),
    says: 'true is given twice',
    kept: section(issuer({ more: { userValidationRules: [{ expression: 'true' }] } })),
  },
  {
    rule: 'email-is-verified',
    broken: section(issuer({ mappings: byEmail })),
    says: 'username uses claims.email, and nothing looks at claims.email_verified',
    kept: section(issuer({ mappings: byEmail, more: { claimValidationRules: looksAtEmail } })),
  },
];
