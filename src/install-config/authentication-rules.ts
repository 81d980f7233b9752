// Rules about issuers of tokens: what kube-apiserver would refuse when it starts is said here, with its place.
import type { FieldPath } from '../source-text/field-path.ts';
import type { ConfigRule, RuleFinding } from './rule.ts';
import type { InstallConfig } from './schema.ts';

type Issuer = InstallConfig['authentication']['jwt'][number];
type JwtRule = (issuer: Issuer, at: FieldPath, all: readonly Issuer[]) => readonly RuleFinding[];

function jwtRule(name: string, says: string, find: JwtRule): ConfigRule {
  return {
    name,
    says,
    severity: 'mistake',
    reads: [['authentication', 'jwt']],
    find: ({ config: { authentication } }) =>
      authentication.jwt.flatMap((issuer, i) =>
        find(issuer, ['authentication', 'jwt', i], authentication.jwt.slice(0, i)),
      ),
  };
}

interface ClaimOrExpression {
  readonly claim?: string;
  readonly expression?: string;
}

/** The parts of an issuer that are either a claim or an expression. */
function choices({
  claimMappings,
  claimValidationRules = [],
}: Issuer): readonly (readonly [FieldPath, ClaimOrExpression])[] {
  const { username, groups, uid } = claimMappings;
  return [
    [['claimMappings', 'username'], username],
    ...(groups === undefined ? [] : [[['claimMappings', 'groups'], groups] as const]),
    ...(uid === undefined ? [] : [[['claimMappings', 'uid'], uid] as const]),
    ...claimValidationRules.map((rule, i) => [['claimValidationRules', i], rule] as const),
  ];
}

const uses = (text: string | undefined, claim: string): boolean =>
  new RegExp(`\\bclaims\\s*(\\.\\s*\\??${claim}\\b|\\[\\s*['"]${claim}['"]\\s*\\])`).test(text ?? '');

export const authenticationRules: readonly ConfigRule[] = [
  jwtRule('issuers-differ', 'Each issuer is given once, and each discoveryURL.', ({ issuer }, at, before) => {
    const { url, discoveryURL } = issuer;
    const isTwice = before.some((other) => other.issuer.url === url);
    const isFoundTwice =
      discoveryURL !== undefined && before.some((other) => other.issuer.discoveryURL === discoveryURL);
    return [
      ...(isTwice ? [{ path: [...at, 'issuer', 'url'], message: `the issuer ${url} is given twice` }] : []),
      ...(isFoundTwice
        ? [{ path: [...at, 'issuer', 'discoveryURL'], message: `the discoveryURL ${discoveryURL} is given twice` }]
        : []),
    ];
  }),
  jwtRule('discovery-elsewhere', 'A discoveryURL differs from the url of its issuer.', ({ issuer }, at) => {
    const { url, discoveryURL } = issuer;
    if (discoveryURL?.replace(/\/+$/, '') !== url.replace(/\/+$/, '')) return [];
    const message = 'discoveryURL is the url of the issuer; leave it out';
    return [{ path: [...at, 'issuer', 'discoveryURL'], message }];
  }),
  jwtRule(
    'audiences-differ',
    'Each audience is given once; several need audienceMatchPolicy: MatchAny.',
    ({ issuer }, at) => {
      const { audiences, audienceMatchPolicy } = issuer;
      const path = [...at, 'issuer', 'audiences'];
      const twice = audiences.flatMap((audience, i) =>
        audiences.indexOf(audience) === i
          ? []
          : [{ path: [...path, i], message: `the audience ${audience} is given twice` }],
      );
      if (audiences.length < 2 || audienceMatchPolicy !== undefined) return twice;
      return [...twice, { path, message: 'more than one audience needs audienceMatchPolicy: MatchAny' }];
    },
  ),
  jwtRule('claim-or-expression', 'A mapping or a rule has a claim or an expression, not both.', (issuer, at) =>
    choices(issuer).flatMap(([place, { claim, expression }]) => {
      if ((claim === undefined) !== (expression === undefined)) return [];
      const path = [...at, ...place];
      const message =
        claim === undefined
          ? `${place.join('.')} has neither a claim nor an expression`
          : `${place.join('.')} has a claim and an expression at once`;
      return [{ path, message, allowed: 'a claim or an expression' }];
    }),
  ),
  jwtRule(
    'claim-has-prefix',
    'With a claim, username and groups say their prefix; with an expression they have none.',
    (issuer, at) => {
      const { username, groups } = issuer.claimMappings;
      return Object.entries({ username, ...(groups === undefined ? {} : { groups }) }).flatMap(([name, mapping]) => {
        const { claim, prefix } = mapping;
        const path = [...at, 'claimMappings', name];
        if (claim !== undefined && prefix === undefined)
          return [
            { path, message: `${name} has a claim and no prefix`, allowed: `prefix: "oidc:", or prefix: "" for none` },
          ];
        if (claim === undefined && prefix !== undefined)
          return [{ path, message: `${name} has a prefix without a claim; put it into the expression` }];
        return [];
      });
    },
  ),
  jwtRule(
    'claim-rule-fields',
    'A rule with a claim has no message, one with an expression no requiredValue; none is given twice.',
    (issuer, at) => {
      const rules = issuer.claimValidationRules ?? [];
      return rules.flatMap(({ claim, requiredValue, expression, message }, i) => {
        const path = [...at, 'claimValidationRules', i];
        if (claim !== undefined && message !== undefined)
          return [{ path, message: 'a rule with a claim has a message' }];
        if (expression !== undefined && requiredValue !== undefined)
          return [{ path, message: 'a rule with an expression has a requiredValue' }];
        const isTwice = rules
          .slice(0, i)
          .some((other) => (claim ?? expression) === (claim === undefined ? other.expression : other.claim));
        return isTwice ? [{ path, message: `the rule about ${claim ?? expression ?? ''} is given twice` }] : [];
      });
    },
  ),
  jwtRule('user-rules-differ', 'Each rule about the user and each extra key is given once.', (issuer, at) => {
    const expressions = (issuer.userValidationRules ?? []).map(({ expression }) => expression);
    const keys = (issuer.claimMappings.extra ?? []).map(({ key }) => key);
    const repeated = (values: readonly string[], path: FieldPath): readonly RuleFinding[] =>
      values.flatMap((value, i) =>
        values.indexOf(value) === i ? [] : [{ path: [...path, i], message: `${value} is given twice` }],
      );
    return [
      ...repeated(expressions, [...at, 'userValidationRules']),
      ...repeated(keys, [...at, 'claimMappings', 'extra']),
    ];
  }),
  jwtRule(
    'email-is-verified',
    'Who names people by claims.email also looks at claims.email_verified.',
    (issuer, at) => {
      const { username, extra = [] } = issuer.claimMappings;
      const looks = [
        username.expression,
        ...extra.map(({ valueExpression }) => valueExpression),
        ...(issuer.claimValidationRules ?? []).map(({ expression }) => expression),
      ];
      if (!uses(username.expression, 'email') || looks.some((text) => uses(text, 'email_verified'))) return [];
      const message = 'username uses claims.email, and nothing looks at claims.email_verified';
      const allowed = 'a claimValidationRule such as claims.?email_verified.orValue(true) == true';
      return [{ path: [...at, 'claimMappings', 'username', 'expression'], message, allowed }];
    },
  ),
];
