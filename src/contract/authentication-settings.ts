// Who, beside the cluster itself, says who a person is: issuers of tokens (OIDC). The install-config asks for them, the
// ControllerConfig keeps them, and the file that every kube-apiserver reads is made from them. Fields have the names
// that Kubernetes gives them in its AuthenticationConfiguration.
import { z } from 'zod';

const text = z.string().min(1);
const prefixedClaim = z.strictObject({
  claim: text.exactOptional(),
  prefix: z.string().exactOptional(),
  expression: text.exactOptional(),
});

export const jwtIssuerSchema = z.strictObject({
  issuer: z.strictObject({
    url: z.url({ protocol: /^https$/ }),
    discoveryURL: z.url({ protocol: /^https$/ }).exactOptional(),
    certificateAuthority: text.exactOptional(),
    audiences: z.array(text).min(1),
    audienceMatchPolicy: z.literal('MatchAny').exactOptional(),
  }),
  claimValidationRules: z
    .array(
      z.strictObject({
        claim: text.exactOptional(),
        requiredValue: z.string().exactOptional(),
        expression: text.exactOptional(),
        message: z.string().exactOptional(),
      }),
    )
    .exactOptional(),
  claimMappings: z.strictObject({
    username: prefixedClaim,
    groups: prefixedClaim.exactOptional(),
    uid: prefixedClaim.omit({ prefix: true }).exactOptional(),
    extra: z.array(z.strictObject({ key: text, valueExpression: text })).exactOptional(),
  }),
  userValidationRules: z
    .array(z.strictObject({ expression: text, message: z.string().exactOptional() }))
    .exactOptional(),
});
export type JwtIssuer = z.output<typeof jwtIssuerSchema>;

export const authenticationSettingsSchema = z.strictObject({ jwt: z.array(jwtIssuerSchema) });
export interface AuthenticationSettings {
  readonly jwt: readonly JwtIssuer[];
}

/** People come with certificates alone. */
export const noIssuers: AuthenticationSettings = { jwt: [] };

/** By its tokens kube-apiserver recognises pods; nobody else may issue in its name. */
export const serviceAccountIssuer = 'https://kubernetes.default.svc.cluster.local';
