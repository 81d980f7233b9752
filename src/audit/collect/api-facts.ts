// What the API holds that controls look at: rights, pods, namespaces, tokens. Everything is asked at once. Of Secrets
// only names and what kind of token they are is kept.
import { z } from 'zod';
import { systemNamespace } from '../../contract/cluster-objects.ts';
import type { KubernetesClient, Selection } from '../../kubernetes/client.ts';
import type { KubernetesObject, ObjectKind } from '../../kubernetes/object.ts';
import type {
  ApiSecurity,
  AuditedBinding,
  AuditedBootstrapToken,
  AuditedNamespace,
  AuditedRole,
  AuditedServiceAccount,
  ObjectName,
} from '../facts.ts';
import { auditedPod } from './pod-facts.ts';

const core = (kind: string): ObjectKind => ({ apiVersion: 'v1', kind });
const rbac = (kind: string): ObjectKind => ({ apiVersion: 'rbac.authorization.k8s.io/v1', kind });
const admission = (kind: string): ObjectKind => ({ apiVersion: 'admissionregistration.k8s.io/v1', kind });

const callMs = 15_000;

export async function collectApiSecurity(client: KubernetesClient, signal: AbortSignal): Promise<ApiSecurity> {
  const list = async (kind: ObjectKind, selection: Selection = {}): Promise<readonly KubernetesObject[]> =>
    (await client.list(kind, selection, { signal, deadlineMs: callMs })).items;
  const secretsOf = (type: string, selection: Selection = {}): Promise<readonly KubernetesObject[]> =>
    list(core('Secret'), { ...selection, fieldSelector: `type=${type}` });
  const [namespaces, pods, services, accounts, ...rest] = await Promise.all([
    list(core('Namespace')),
    list(core('Pod')),
    list(core('Service')),
    list(core('ServiceAccount')),
    list(rbac('ClusterRole')),
    list(rbac('Role')),
    list(rbac('ClusterRoleBinding')),
    list(rbac('RoleBinding')),
    list({ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' }),
    list(admission('ValidatingAdmissionPolicy')),
    list(admission('ValidatingAdmissionPolicyBinding')),
    secretsOf('kubernetes.io/service-account-token'),
    secretsOf('bootstrap.kubernetes.io/token', { namespace: systemNamespace }),
    list({ apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest' }),
  ]);
  const [clusterRoles, roles, clusterBindings, bindings, networkPolicies, policies, policyBindings] = rest;
  const [, , , , , , , lastingTokens, bootstrapTokens, requests] = rest;
  const serviceAccounts = accounts.map(auditedAccount);
  return {
    namespaces: namespaces.map(auditedNamespace),
    pods: pods.filter(isAlive).map((pod) => auditedPod(pod, serviceAccounts)),
    services: services.map(nameOf),
    serviceAccounts,
    roles: [...clusterRoles, ...roles].map(auditedRole),
    bindings: [...clusterBindings, ...bindings].map(auditedBinding),
    networkPolicies: networkPolicies.map(nameOf),
    networkPolicyAnswers: policiesAbout('networkpolicies', policies, policyBindings),
    lastingTokens: lastingTokens.map(nameOf),
    bootstrapTokens: bootstrapTokens.map(auditedBootstrapToken),
    signedClients: requests.filter(isSignedClient).map(({ metadata }) => `CertificateSigningRequest ${metadata.name}`),
  };
}

function nameOf({ metadata }: KubernetesObject): ObjectName {
  return { name: metadata.name, namespace: metadata.namespace ?? '' };
}

/** A pod that has ended holds nothing of its node any more. */
function isAlive(pod: KubernetesObject): boolean {
  const { phase } = (pod['status'] ?? {}) as { readonly phase?: string };
  return phase !== 'Succeeded' && phase !== 'Failed';
}

function auditedNamespace({ metadata }: KubernetesObject): AuditedNamespace {
  const enforce = metadata.labels?.['pod-security.kubernetes.io/enforce'];
  return { name: metadata.name, ...(enforce === undefined ? {} : { enforce }) };
}

function auditedAccount(account: KubernetesObject): AuditedServiceAccount {
  return { ...nameOf(account), mountsToken: account['automountServiceAccountToken'] !== false };
}

const ruleSchema = z.object({
  apiGroups: z.array(z.string()).exactOptional(),
  resources: z.array(z.string()).exactOptional(),
  verbs: z.array(z.string()).default([]),
  nonResourceURLs: z.array(z.string()).exactOptional(),
});

/** A role without rules has `null` there. */
function auditedRole(role: KubernetesObject): AuditedRole {
  const { name, namespace } = role.metadata;
  const rules = z.array(ruleSchema).parse(role['rules'] ?? []);
  return { name, ...(namespace === undefined ? {} : { namespace }), rules };
}

const subjectSchema = z.object({ kind: z.string(), name: z.string(), namespace: z.string().exactOptional() });
const bindingSchema = z.object({
  roleRef: z.object({ kind: z.string(), name: z.string() }),
  subjects: z.array(subjectSchema).nullish(),
});

function auditedBinding(binding: KubernetesObject): AuditedBinding {
  const { name, namespace } = binding.metadata;
  const { roleRef, subjects } = bindingSchema.parse(binding);
  return { name, ...(namespace === undefined ? {} : { namespace }), role: roleRef, subjects: subjects ?? [] };
}

const policySchema = z.object({
  matchConstraints: z
    .object({ resourceRules: z.array(z.object({ resources: z.array(z.string()).nullish() })).nullish() })
    .nullish(),
});
const policyBindingSchema = z.object({ policyName: z.string(), validationActions: z.array(z.string()).nullish() });

/** Policies that are bound so that whoever makes such an object is told: it is denied, or there is a warning. */
function policiesAbout(
  resource: string,
  policies: readonly KubernetesObject[],
  bindings: readonly KubernetesObject[],
): readonly string[] {
  const bound = bindings.flatMap((binding) => {
    const spec = policyBindingSchema.safeParse(binding['spec']).data;
    const tells = spec?.validationActions?.some((action) => action === 'Warn' || action === 'Deny') ?? false;
    return spec !== undefined && tells ? [spec.policyName] : [];
  });
  return policies
    .filter((policy) => {
      const rules = policySchema.safeParse(policy['spec']).data?.matchConstraints?.resourceRules ?? [];
      return rules.some(({ resources }) => resources?.includes(resource));
    })
    .map(({ metadata }) => metadata.name)
    .filter((name) => bound.includes(name));
}

function auditedBootstrapToken({ metadata, ...secret }: KubernetesObject): AuditedBootstrapToken {
  const data = (secret['data'] ?? {}) as Readonly<Record<string, string>>;
  const groups = Buffer.from(data['auth-extra-groups'] ?? '', 'base64').toString('utf8');
  return {
    name: metadata.name,
    hasExpiration: data['expiration'] !== undefined,
    groups: groups.split(',').filter((group) => group !== ''),
  };
}

function isSignedClient(request: KubernetesObject): boolean {
  const spec = request['spec'] as { readonly signerName?: string } | undefined;
  const status = request['status'] as { readonly certificate?: string } | undefined;
  return spec?.signerName === 'kubernetes.io/kube-apiserver-client' && status?.certificate !== undefined;
}
