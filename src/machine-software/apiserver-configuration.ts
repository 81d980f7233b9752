// What kube-apiserver is told by files: whom it believes, which pods it refuses, and what it writes down. The files are
// the same on the bootstrap machine and on masters and hold no secret.
import type { AuthenticationSettings } from '../contract/authentication-settings.ts';
import { nodeAgentGroup, systemNamespace } from '../contract/cluster-objects.ts';
import { apiserverConfigFiles, apiserverUser } from '../contract/machine-paths.ts';
import type { SecuritySettings } from '../contract/security-settings.ts';
import { toYaml } from '../kubernetes/yaml.ts';
import { authenticationConfigurationText } from './authentication-configuration.ts';
import type { MachineFile } from './machine-software.ts';

/** `authentication` is left out for the bootstrap machine, where a stage renders it. */
export function apiserverConfiguration(
  settings: SecuritySettings,
  authentication?: AuthenticationSettings,
): readonly MachineFile[] {
  const owner = apiserverUser;
  const issuers = authentication === undefined ? [] : [authenticationConfigurationText(authentication)];
  return [
    ...issuers.map((text) => ({ path: apiserverConfigFiles.authentication, text, owner })),
    { path: apiserverConfigFiles.admission, text: toYaml(admission(settings)), owner },
    { path: apiserverConfigFiles.auditPolicy, text: toYaml(auditPolicy(settings)), owner },
  ];
}

/** The labels of a namespace override the defaults. kube-system is exempt: static pods are privileged by nature. */
function admission({ podSecurity: { enforce, warn } }: SecuritySettings): object {
  return {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AdmissionConfiguration',
    plugins: [
      {
        name: 'PodSecurity',
        configuration: {
          apiVersion: 'pod-security.admission.config.k8s.io/v1',
          kind: 'PodSecurityConfiguration',
          defaults: {
            enforce,
            'enforce-version': 'latest',
            audit: warn,
            'audit-version': 'latest',
            warn,
            'warn-version': 'latest',
          },
          exemptions: { usernames: [], runtimeClasses: [], namespaces: [systemNamespace] },
        },
      },
    ],
  };
}

const reads = ['get', 'list', 'watch'] as const;
const leases = { group: 'coordination.k8s.io', resources: ['leases'] } as const;

/** The first rule that fits decides. What repeats every few seconds and says nothing about anybody is left out. */
function auditPolicy({ auditLog }: SecuritySettings): object {
  const header = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy' } as const;
  if (auditLog === 'none') return { ...header, rules: [{ level: 'None' }] };
  return {
    ...header,
    omitStages: ['RequestReceived'],
    omitManagedFields: true,
    rules: [...noise, ...neverAboveMetadata, ...(auditLog === 'request' ? [sentObjects] : []), { level: 'Metadata' }],
  };
}

const noise: readonly object[] = [
  { level: 'None', nonResourceURLs: ['/livez*', '/readyz*', '/healthz*'] },
  {
    level: 'None',
    verbs: reads,
    resources: [
      { group: '', resources: ['events'] },
      { group: 'events.k8s.io', resources: ['events'] },
    ],
  },
  { level: 'None', users: ['system:apiserver'], verbs: reads },
  {
    level: 'None',
    users: ['system:apiserver', 'system:kube-controller-manager', 'system:kube-scheduler'],
    namespaces: [systemNamespace],
    resources: [leases],
  },
  { level: 'None', userGroups: [nodeAgentGroup], namespaces: [systemNamespace], resources: [leases] },
  { level: 'None', userGroups: ['system:nodes'], namespaces: ['kube-node-lease'], resources: [leases] },
];

/** Their contents are secrets, or may hold some. */
const neverAboveMetadata: readonly object[] = [
  {
    level: 'Metadata',
    resources: [
      { group: '', resources: ['secrets', 'configmaps', 'serviceaccounts/token'] },
      { group: 'authentication.k8s.io', resources: ['tokenreviews', 'tokenrequests', 'selfsubjectreviews'] },
    ],
  },
];

const sentObjects = { level: 'Request', verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'] } as const;
