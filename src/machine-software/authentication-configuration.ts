// The file by which kube-apiserver decides whom it believes beside certificates and its own tokens: the issuers of the
// install-config, and nobody without a name but for health. kube-apiserver follows the file while it runs.
import { z } from 'zod';
import {
  type AuthenticationSettings,
  authenticationSettingsSchema,
  type JwtIssuer,
} from '../contract/authentication-settings.ts';
import { toYaml } from '../kubernetes/yaml.ts';

/** Load balancers and kubelets ask for health without a name. Whoever asks for anything else must say who it is. */
export const anonymousPaths = ['/livez', '/readyz', '/healthz'] as const;

const apiVersion = 'apiserver.config.k8s.io/v1';
const kind = 'AuthenticationConfiguration';

/**
 * Names that begin with `system:` are those of the cluster itself. Without these rules an issuer, or a person who may
 * choose a claim of theirs, could be a node or one of system:masters.
 */
export const systemNameRules = [
  { expression: "!user.username.startsWith('system:')", message: 'a name that begins with system: is no person’s' },
  {
    expression: "user.groups.all(group, !group.startsWith('system:'))",
    message: 'a group that begins with system: is the cluster’s own',
  },
] as const;

export function authenticationConfigurationText({ jwt }: AuthenticationSettings): string {
  return toYaml({
    apiVersion,
    kind,
    anonymous: { enabled: true, conditions: anonymousPaths.map((path) => ({ path })) },
    ...(jwt.length === 0 ? {} : { jwt: jwt.map(withSystemNameRules) }),
  });
}

function withSystemNameRules(issuer: JwtIssuer): JwtIssuer {
  const own = issuer.userValidationRules ?? [];
  // kube-apiserver refuses an expression that is there twice.
  const added = systemNameRules.filter(({ expression }) => !own.some((rule) => rule.expression === expression));
  return { ...issuer, userValidationRules: [...own, ...added] };
}

const anonymousSchema = z.strictObject({
  enabled: z.literal(true),
  conditions: z.array(z.strictObject({ path: z.enum(anonymousPaths) })).min(1),
});

/** Refuses what kube-apiserver would refuse, and what it would obey although nobody decided it. */
export const authenticationConfigurationSchema = z.strictObject({
  apiVersion: z.literal(apiVersion),
  kind: z.literal(kind),
  anonymous: anonymousSchema,
  jwt: authenticationSettingsSchema.shape.jwt.exactOptional(),
});
