// Facts that several rooms derive from an install-config.
import type { AuthenticationSettings } from '../contract/authentication-settings.ts';
import type { SecuritySettings } from '../contract/security-settings.ts';
import type { InstallConfig } from './schema.ts';

export type PlatformName = 'local' | 'none';

export function platformOf(config: InstallConfig): PlatformName {
  return config.platform.none === undefined ? 'local' : 'none';
}

export function masterCount(config: InstallConfig): number {
  return config.controlPlane.replicas;
}

export function workerCount(config: InstallConfig): number {
  return config.compute[0].replicas;
}

/** `featureGates` by name. */
export function featureGatesOf(config: InstallConfig): Readonly<Record<string, boolean>> {
  return Object.fromEntries(
    config.featureGates.map((gate) => {
      const [name = '', value] = gate.split('=');
      return [name, value === 'true'];
    }),
  );
}

/** The part of `security` that reaches machines. */
export function securitySettingsOf({ security }: InstallConfig): SecuritySettings {
  const { auditLog, podSecurity, seccompDefault } = security;
  return { auditLog, podSecurity, seccompDefault };
}

/** Undefined where people come with certificates alone. */
export function issuersOf({ authentication }: InstallConfig): AuthenticationSettings | undefined {
  return authentication.jwt.length === 0 ? undefined : authentication;
}

/** The certificates that machines trust besides those of their system; none unless the policy asks for them. */
export function trustBundleOf(config: InstallConfig): string | undefined {
  const isWanted = config.additionalTrustBundlePolicy === 'Always' || config.proxy !== undefined;
  return isWanted ? config.additionalTrustBundle : undefined;
}

/** `demo.firstlight.test`; the API is `api.` and, for the machines themselves, `api-int.` before it. */
export function clusterDomain(config: InstallConfig): string {
  return `${config.metadata.name}.${config.baseDomain}`;
}
