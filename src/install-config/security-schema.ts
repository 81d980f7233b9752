// The `security` section. Its defaults are what a hardened distribution ships; each field exists because some cluster
// has a reason to differ. What has no reason (anonymous requests, old TLS, profiling) is no field.
import { z } from 'zod';
import {
  auditLevels,
  hardenedSettings,
  networkPolicyAnswers,
  podSecurityLevels,
} from '../contract/security-settings.ts';

const podSecuritySchema = z.strictObject({
  enforce: z
    .enum(podSecurityLevels)
    .default(hardenedSettings.podSecurity.enforce)
    .meta({
      description:
        'A pod that violates this level is refused. baseline keeps out pods that could take over their machine ' +
        '(privileged, host network, paths of the host); most images run under it unchanged.',
    }),
  warn: z.enum(podSecurityLevels).default(hardenedSettings.podSecurity.warn).meta({
    description: 'Whoever creates a pod that violates this level is warned, and the audit log says so. The pod runs.',
  }),
});

export const securitySchema = z.strictObject({
  auditLog: z
    .enum(auditLevels)
    .default(hardenedSettings.auditLog)
    .meta({
      description:
        'What each master writes down about requests to its API: metadata (who, what, when, the answer), request ' +
        '(also what was sent, for objects other than Secrets, ConfigMaps and tokens) or none. Kept in ' +
        '/var/log/kube-apiserver: 100 MB, ten older files (compressed) and 30 days at most.',
    }),
  podSecurity: podSecuritySchema.prefault({}).meta({
    description:
      'The Pod Security levels of namespaces that say nothing else by their labels. kube-system is exempt: the ' +
      'control plane and the add-ons live there.',
  }),
  seccompDefault: z
    .boolean()
    .default(hardenedSettings.seccompDefault)
    .meta({
      description:
        'A container that names no seccomp profile gets that of the runtime, which keeps it from some sixty system ' +
        'calls that attacks on the kernel begin with. false: it may call everything. On platform local that is ' +
        'everything but audit sockets and calls that the systemd of this host does not know: no container loses the ' +
        'filter of its machine.',
    }),
  networkPolicy: z
    .enum(networkPolicyAnswers)
    .default('warn')
    .meta({
      description:
        'The network of the cluster (networkType Firstlight) does not enforce a NetworkPolicy: every pod reaches ' +
        'every pod. So that nobody trusts in one, whoever writes a NetworkPolicy is warned or refused. ignore is for ' +
        'a cluster to which you add something that enforces it.',
    }),
});
