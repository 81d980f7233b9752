// How controls look at rights: which subjects have a right, by which binding. Named subjects are a decision of whoever
// bound them. A right that a whole crowd has (everybody who has a name, every pod) was hardly meant, so that fails.
import type { AuditControl, AuditFinding, ControlText } from './control.ts';
import { verdictOf } from './control.ts';
import type { AccessRule, ApiSecurity, AuditedBinding, AuditedRole, AuditedSubject } from './facts.ts';
import { ifSeen } from './machine-looks.ts';

export interface Right {
  readonly verbs: readonly string[];
  readonly group: string;
  readonly resource: string;
}

/** The role that may do everything. Who has it is the question of one control only (5.1.1). */
export const everyRight = 'cluster-admin';

export function roleOf(
  { roles }: Pick<ApiSecurity, 'roles'>,
  { role, namespace }: AuditedBinding,
): AuditedRole | undefined {
  const place = role.kind === 'ClusterRole' ? undefined : namespace;
  return roles.find((each) => each.name === role.name && each.namespace === place);
}

const includes = (list: readonly string[] | undefined, wanted: string): boolean =>
  list?.some((entry) => entry === '*' || entry === wanted) ?? false;

function grants(rule: AccessRule, { verbs, group, resource }: Right): boolean {
  const [whole = '', part] = resource.split('/');
  const anyPart = part === undefined ? [] : [`${whole}/*`, `*/${part}`];
  const named = includes(rule.resources, resource) || anyPart.some((name) => rule.resources?.includes(name));
  return named && includes(rule.apiGroups, group) && verbs.some((verb) => includes(rule.verbs, verb));
}

/** Groups that nobody was put into by name, and the accounts of pods that ask for none. */
export function isCrowd({ kind, name }: AuditedSubject): boolean {
  if (kind === 'ServiceAccount') return name === 'default';
  if (kind === 'User') return name === 'system:anonymous';
  return /^system:(authenticated|unauthenticated|serviceaccounts(:.*)?)$/.test(name);
}

export function subjectText({ kind, name, namespace }: AuditedSubject): string {
  return namespace === undefined ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
}

export function bindingText({ namespace, name }: AuditedBinding): string {
  return namespace === undefined ? `ClusterRoleBinding ${name}` : `RoleBinding ${namespace}/${name}`;
}

/** Crowds that have one of the rights by a binding. */
function crowdsWith(api: ApiSecurity, rights: readonly Right[]): readonly AuditFinding[] {
  return api.bindings
    .filter(({ role }) => role.name !== everyRight)
    .flatMap((binding) => {
      const rules = roleOf(api, binding)?.rules ?? [];
      if (!rules.some((rule) => rights.some((right) => grants(rule, right)))) return [];
      return binding.subjects.filter(isCrowd).map((subject) => ({
        where: bindingText(binding),
        seen: `gives ${subjectText(subject)} the role ${binding.role.name}`,
      }));
    });
}

export function rightControl(text: ControlText, ...rights: readonly Right[]): AuditControl {
  return { ...text, look: ({ api }) => ifSeen(api, (seen) => verdictOf(crowdsWith(seen, rights))) };
}
