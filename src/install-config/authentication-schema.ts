// The `authentication` section: issuers of tokens by which people log in. Fields and rules are those of Kubernetes'
// AuthenticationConfiguration, so that its documentation is theirs; what relates one field to another is in
// authentication-rules.ts.
import { z } from 'zod';
import { serviceAccountIssuer } from '../contract/authentication-settings.ts';
import { trustBundleMistake } from './credentials.ts';
import { textField } from './text-field.ts';

const httpsUrl = 'https://host, with an optional port and path';

function issuerUrlMistake(text: string): string | undefined {
  if (/[\s\p{Cc}]/u.test(text)) return 'has a blank or a control character';
  if (!text.startsWith('https://')) return 'does not begin with https://';
  if (!URL.canParse(text)) return 'is not a URL';
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return 'has a user or a password in it';
  if (text.includes('?')) return 'has a query';
  if (text.includes('#')) return 'has a fragment';
  if (text === serviceAccountIssuer) return 'is the issuer of the cluster’s own tokens';
  return undefined;
}

const issuerUrl = textField({ mistake: issuerUrlMistake, allowed: httpsUrl });

const filled = textField({ mistake: (text) => (text.trim() === '' ? 'is empty' : undefined), allowed: 'a text' });

const claimName = filled.meta({ description: 'The name of a claim of the token.', examples: ['sub'] });
const expression = (description: string, example: string) => filled.meta({ description, examples: [example] });

const prefix = z.string().meta({
  description: 'Put before the value, so that it clashes with no name of the cluster; "" for none.',
  examples: ['oidc:'],
});

const usernameSchema = z.strictObject({
  claim: claimName.exactOptional(),
  prefix: prefix.exactOptional(),
  expression: expression(
    'Instead of claim and prefix: a CEL expression over claims.',
    '"oidc:" + claims.sub',
  ).exactOptional(),
});

const groupsSchema = z.strictObject({
  claim: claimName.exactOptional(),
  prefix: prefix.exactOptional(),
  expression: expression(
    'Instead of claim and prefix: a CEL expression over claims that gives a text or a list of texts.',
    'claims.roles.split(",")',
  ).exactOptional(),
});

const uidSchema = z.strictObject({
  claim: claimName.exactOptional(),
  expression: expression('Instead of claim: a CEL expression over claims.', 'claims.sub').exactOptional(),
});

const extraSchema = z.strictObject({
  key: textField({ mistake: extraKeyMistake, allowed: 'a domain of yours, a slash and a path, in lower case' }).meta({
    description: 'The name of the attribute.',
    examples: ['example.test/team'],
  }),
  valueExpression: expression('A CEL expression over claims.', 'claims.team'),
});

function extraKeyMistake(key: string): string | undefined {
  const [domain = '', path = ''] = key.split(/\/(.*)/s);
  if (key !== key.toLowerCase()) return 'has upper-case letters';
  if (path === '' || !/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(domain))
    return 'is not a domain, a slash and a path';
  if (/(^|\.)(k8s|kubernetes)\.io$/.test(domain)) return 'is in a domain of Kubernetes';
  return undefined;
}

const issuerSchema = z.strictObject({
  url: issuerUrl.meta({
    description: 'The issuer, exactly as in the claim iss of its tokens. Every API server must reach it.',
    examples: ['https://login.example.test/realms/staff'],
  }),
  discoveryURL: issuerUrl.exactOptional().meta({
    description: 'Where its discovery document is, when that is not <url>/.well-known/openid-configuration.',
    examples: ['https://login.intern.example.test/.well-known/openid-configuration'],
  }),
  certificateAuthority: textField({ mistake: trustBundleMistake, allowed: 'one or more PEM certificates' })
    .exactOptional()
    .meta({
      description: 'The authorities that its server is verified by, as PEM. Without it, those of the system.',
      examples: ['-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----\n'],
    }),
  audiences: z
    .array(filled)
    .min(1)
    .meta({
      description:
        'A token is accepted when its claim aud has one of these: the clients that were made for the cluster.',
      examples: [['kubernetes']],
    }),
  audienceMatchPolicy: z.literal('MatchAny').exactOptional().meta({
    description: 'Needed with more than one audience: one of them is enough.',
  }),
});

const claimRuleSchema = z.strictObject({
  claim: claimName.exactOptional(),
  requiredValue: z
    .string()
    .exactOptional()
    .meta({ description: 'What the claim must be.', examples: ['staff'] }),
  expression: expression(
    'Instead of claim and requiredValue: a CEL expression over claims that must be true.',
    'claims.exp - claims.nbf <= 86400',
  ).exactOptional(),
  message: z.string().exactOptional().meta({ description: 'What the log says when the expression is false.' }),
});

const userRuleSchema = z.strictObject({
  expression: expression('A CEL expression over user that must be true.', "user.username.endsWith('@example.test')"),
  message: z.string().exactOptional().meta({ description: 'What the log says when it is false.' }),
});

const jwtSchema = z.strictObject({
  issuer: issuerSchema.meta({ description: 'Who issues the tokens, and for whom.' }),
  claimValidationRules: z.array(claimRuleSchema).exactOptional().meta({
    description: 'What the claims of a token must be, beside issuer, audience and time.',
  }),
  claimMappings: z
    .strictObject({
      username: usernameSchema.meta({ description: 'Who the person is: a claim with a prefix, or an expression.' }),
      groups: groupsSchema.exactOptional().meta({
        description: 'Which groups the person is in; bind roles to them (kubectl create clusterrolebinding --group).',
      }),
      uid: uidSchema.exactOptional().meta({ description: 'What tells two people of one name apart.' }),
      extra: z
        .array(extraSchema)
        .exactOptional()
        .meta({ description: 'Further attributes, for authorizers and logs.' }),
    })
    .meta({ description: 'How claims become a user of the cluster.' }),
  userValidationRules: z.array(userRuleSchema).exactOptional().meta({
    description:
      'What the user that came out must be. Names and groups that begin with system: are refused in any case.',
  }),
});

export const authenticationSchema = z.strictObject({
  jwt: z.array(jwtSchema).default([]).meta({
    description:
      'Issuers of tokens (OIDC), with the fields of Kubernetes’ AuthenticationConfiguration. Certificates work beside them.',
  }),
});
