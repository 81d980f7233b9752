// Section 5.1: who has which rights in the cluster, and which pods have tokens.

import { adminGroup } from '../../contract/cluster-objects.ts';
import { versionOperator } from '../../contract/cluster-version.ts';
import { bindingText, everyRight, isCrowd, rightControl, roleOf, subjectText } from '../access-looks.ts';
import { type AuditControl, type AuditFinding, verdictOf } from '../control.ts';
import type { ApiSecurity, AuditedPod, AuditedRole, AuditedSubject } from '../facts.ts';
import { ifSeen } from '../machine-looks.ts';

const rbac = 'rbac.authorization.k8s.io';
const certificates = 'certificates.k8s.io';
const admission = 'admissionregistration.k8s.io';
const unbind = 'Delete the binding, or bind the one account that needs the right.';

const superGroup = 'system:masters';
/**
 * Who may do everything: the group that no binding can take it from, the administrators of firstlight, and the version
 * operator, which makes the roles of every component.
 */
function isAdministrator({ kind, name, namespace }: AuditedSubject): boolean {
  if (kind === 'ServiceAccount') return name === versionOperator.name && namespace === versionOperator.namespace;
  return kind === 'Group' && [superGroup, adminGroup].includes(name);
}

function otherAdministrators({ bindings }: ApiSecurity): readonly AuditFinding[] {
  return bindings
    .filter(({ role }) => role.name === everyRight)
    .flatMap((binding) =>
      binding.subjects
        .filter((subject) => !isAdministrator(subject))
        .map((subject) => ({
          where: bindingText(binding),
          seen: `makes ${subjectText(subject)} an administrator${binding.namespace === undefined ? '' : ' of the namespace'}`,
        })),
    );
}

/** Kubernetes makes these roles, and makes them again when they change. */
const isOfKubernetes = ({ name }: AuditedRole): boolean =>
  name.startsWith('system:') || [everyRight, 'admin', 'edit', 'view'].includes(name);

function wildcards({ roles }: ApiSecurity): readonly AuditFinding[] {
  return roles
    .filter((role) => !isOfKubernetes(role))
    .filter(({ rules }) => rules.some(({ verbs, resources = [] }) => verbs.includes('*') || resources.includes('*')))
    .map(({ namespace, name }) => ({
      where: namespace === undefined ? `ClusterRole ${name}` : `Role ${namespace}/${name}`,
      seen: 'has a rule with *',
    }));
}

const podText = ({ namespace, name }: AuditedPod): string => `Pod ${namespace}/${name}`;

function usedDefaultAccounts({ pods, bindings, ...api }: ApiSecurity): readonly AuditFinding[] {
  const ofPods = pods
    .filter(({ serviceAccount, mountsToken }) => serviceAccount === 'default' && mountsToken)
    .map((pod) => ({ where: podText(pod), seen: 'has the token of the service account default' }));
  const ofBindings = bindings
    .filter((binding) => (roleOf(api, binding)?.rules.length ?? 0) > 0)
    .filter(({ subjects }) => subjects.some((subject) => subject.kind === 'ServiceAccount' && isCrowd(subject)))
    .map((binding) => ({ where: bindingText(binding), seen: 'gives rights to a service account default' }));
  return [...ofPods, ...ofBindings];
}

/** A token of an account without any right is only good for a thief who waits for one. */
function uselessTokens({ pods, bindings }: ApiSecurity): readonly AuditFinding[] {
  return pods
    .filter(({ mountsToken, serviceAccount }) => mountsToken && serviceAccount !== 'default')
    .filter(
      ({ namespace, serviceAccount }) =>
        !bindings.some(({ subjects }) =>
          subjects.some(
            (subject) =>
              subject.kind === 'ServiceAccount' && subject.name === serviceAccount && subject.namespace === namespace,
          ),
        ),
    )
    .map((pod) => ({ where: podText(pod), seen: `has a token of ${pod.serviceAccount}, which has no right at all` }));
}

function boundSuperGroup({ bindings }: ApiSecurity): readonly AuditFinding[] {
  return bindings
    .filter(({ name, namespace }) => name !== everyRight || namespace !== undefined)
    .filter(({ subjects }) => subjects.some(({ kind, name }) => kind === 'Group' && name === superGroup))
    .map((binding) => ({ where: bindingText(binding), seen: `binds ${superGroup}` }));
}

export const accessControls: readonly AuditControl[] = [
  {
    id: '5.1.1',
    title: 'only administrators are administrators',
    why: 'cluster-admin may read every secret and run anything on every node.',
    remedy: 'Delete the binding, or bind a role with the rights that are needed.',
    look: ({ api }) => ifSeen(api, (seen) => verdictOf(otherAdministrators(seen))),
  },
  rightControl(
    {
      id: '5.1.2',
      title: 'no crowd may read Secrets',
      why: 'Who reads the Secrets of a namespace is every account of that namespace.',
      remedy: unbind,
    },
    { verbs: ['get', 'list', 'watch'], group: '', resource: 'secrets' },
  ),
  {
    id: '5.1.3',
    title: 'roles name what they allow',
    why: 'A * also allows what is added to the cluster later.',
    remedy: 'Name verbs and resources in the role.',
    look: ({ api }) => ifSeen(api, (seen) => verdictOf(wildcards(seen))),
  },
  rightControl(
    {
      id: '5.1.4',
      title: 'no crowd may make pods',
      why: 'Who makes a pod may use every account, Secret and volume of its namespace.',
      remedy: unbind,
    },
    { verbs: ['create'], group: '', resource: 'pods' },
  ),
  {
    id: '5.1.5',
    title: 'nobody uses the service accounts default',
    why: 'A pod gets that account without asking for it: what one pod needs, all of the namespace would get.',
    remedy: 'Give the pod an account of its own, or automountServiceAccountToken: false.',
    look: ({ api }) => ifSeen(api, (seen) => verdictOf(usedDefaultAccounts(seen))),
  },
  {
    id: '5.1.6',
    title: 'a pod has a token only where it has rights',
    why: 'Who breaks into a pod finds its token first.',
    remedy: 'Set automountServiceAccountToken: false for the pod or its account.',
    look: ({ api }) => ifSeen(api, (seen) => verdictOf(uselessTokens(seen))),
  },
  {
    id: '5.1.7',
    title: `nobody is in ${superGroup} every day`,
    why: 'The API asks nobody about this group, so no binding that is deleted takes the right back.',
    remedy: `Bind ${adminGroup} or a group of your own; the kubeconfig of everyday use must not be in ${superGroup}.`,
    look: ({ api, folder }) => {
      const everyday = folder
        .filter(({ path, organizations = [] }) => !path.includes('break-glass') && organizations.includes(superGroup))
        .map(({ path }) => ({ where: path, seen: `is a kubeconfig in ${superGroup}` }));
      return ifSeen(api, (seen) => verdictOf([...boundSuperGroup(seen), ...everyday]));
    },
  },
  rightControl(
    {
      id: '5.1.8',
      title: 'no crowd may bind, escalate or impersonate',
      why: 'Each of these three is a way to every other right.',
      remedy: unbind,
    },
    { verbs: ['bind', 'escalate'], group: rbac, resource: 'clusterroles' },
    { verbs: ['bind', 'escalate'], group: rbac, resource: 'roles' },
    { verbs: ['impersonate'], group: '', resource: 'users' },
    { verbs: ['impersonate'], group: '', resource: 'groups' },
    { verbs: ['impersonate'], group: '', resource: 'serviceaccounts' },
  ),
  rightControl(
    {
      id: '5.1.9',
      title: 'no crowd may make persistent volumes',
      why: 'A volume may be any folder of a node.',
      remedy: unbind,
    },
    { verbs: ['create'], group: '', resource: 'persistentvolumes' },
  ),
  rightControl(
    {
      id: '5.1.10',
      title: 'no crowd may reach kubelets through the API',
      why: 'A kubelet runs commands in every pod of its node, and the audit log would not name them.',
      remedy: unbind,
    },
    { verbs: ['get', 'create'], group: '', resource: 'nodes/proxy' },
  ),
  rightControl(
    {
      id: '5.1.11',
      title: 'no crowd may approve certificates',
      why: 'Who approves requests can become any kubelet.',
      remedy: unbind,
    },
    { verbs: ['update', 'patch'], group: certificates, resource: 'certificatesigningrequests/approval' },
  ),
  rightControl(
    {
      id: '5.1.12',
      title: 'no crowd may change webhooks',
      why: 'A webhook reads and changes every object on its way into the cluster.',
      remedy: unbind,
    },
    { verbs: ['create', 'update', 'patch'], group: admission, resource: 'validatingwebhookconfigurations' },
    { verbs: ['create', 'update', 'patch'], group: admission, resource: 'mutatingwebhookconfigurations' },
  ),
  rightControl(
    {
      id: '5.1.13',
      title: 'no crowd may make tokens of service accounts',
      why: 'Who makes a token of an account has all its rights, for as long as asked.',
      remedy: unbind,
    },
    { verbs: ['create'], group: '', resource: 'serviceaccounts/token' },
  ),
];
