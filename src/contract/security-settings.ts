// How far the machines and the control plane of a cluster are hardened, as far as the user decides it. The
// install-config asks for it, the ControllerConfig keeps it, and the files of machines are made from it.
import { z } from 'zod';

/** How much of a request the audit log keeps. */
export const auditLevels = ['none', 'metadata', 'request'] as const;
/** The levels of the Pod Security Standards. */
export const podSecurityLevels = ['privileged', 'baseline', 'restricted'] as const;
/** What happens to a NetworkPolicy, which the network of the cluster does not enforce. */
export const networkPolicyAnswers = ['warn', 'refuse', 'ignore'] as const;

export const securitySettingsSchema = z.object({
  auditLog: z.enum(auditLevels),
  podSecurity: z.object({ enforce: z.enum(podSecurityLevels), warn: z.enum(podSecurityLevels) }),
  seccompDefault: z.boolean(),
});
export type SecuritySettings = Readonly<z.output<typeof securitySettingsSchema>>;

/** The defaults of the install-config. A ControllerConfig without settings gets the same. */
export const hardenedSettings = {
  auditLog: 'metadata',
  podSecurity: { enforce: 'baseline', warn: 'restricted' },
  seccompDefault: true,
} as const satisfies SecuritySettings;
