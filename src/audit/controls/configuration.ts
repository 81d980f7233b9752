// Section 3: how people and programs say who they are, and what is written down about their requests.
import { z } from 'zod';
import { adminGroup } from '../../contract/cluster-objects.ts';
import type { AuditControl } from '../control.ts';
import { notApplicable, verdictOf } from '../control.ts';
import { ifSeen, type Judgement, needsFlags, processControl } from '../machine-looks.ts';

/** The group of machines that join; a token may give no other. */
const bootstrappers = /^system:bootstrappers(:|$)/;

const auditRule = z.object({
  level: z.string(),
  users: z.array(z.string()).nullish(),
  userGroups: z.array(z.string()).nullish(),
  verbs: z.array(z.string()).nullish(),
  namespaces: z.array(z.string()).nullish(),
  nonResourceURLs: z.array(z.string()).nullish(),
  resources: z.array(z.object({ group: z.string().optional(), resources: z.array(z.string()).nullish() })).nullish(),
});
const auditPolicy = z.object({ rules: z.array(auditRule) });
type AuditRule = z.output<typeof auditRule>;

const isEmpty = (list: readonly unknown[] | null | undefined): boolean => (list ?? []).length === 0;

/** A rule for every request that no rule before it has taken. */
function takesAll(rule: AuditRule): boolean {
  return [rule.users, rule.userGroups, rule.verbs, rule.namespaces, rule.nonResourceURLs, rule.resources].every(
    isEmpty,
  );
}

/** Objects whose content is itself a secret. */
const secretObjects = ['secrets', 'configmaps', 'tokenreviews', 'serviceaccounts/token'];

function namesSecrets({ resources }: AuditRule): boolean {
  if (isEmpty(resources)) return true;
  return (resources ?? []).some(
    ({ resources: names }) =>
      isEmpty(names) || (names ?? []).some((name) => secretObjects.includes(name) || name === '*'),
  );
}

/** Changes that must be on record: by anybody, in any namespace. */
function drops(rule: AuditRule): boolean {
  const isWrite = isEmpty(rule.verbs) || (rule.verbs ?? []).some((verb) => !['get', 'list', 'watch'].includes(verb));
  const isNarrow = !isEmpty(rule.users) || !isEmpty(rule.userGroups) || !isEmpty(rule.namespaces);
  const aboutEvents = (rule.resources ?? []).every(({ resources: names }) =>
    (names ?? []).every((name) => name === 'events'),
  );
  return (
    rule.level === 'None' &&
    isWrite &&
    !isNarrow &&
    isEmpty(rule.nonResourceURLs) &&
    !(aboutEvents && !isEmpty(rule.resources))
  );
}

function judgePolicy(policy: unknown): Judgement {
  const rules = auditPolicy.safeParse(policy).data?.rules;
  if (rules === undefined || rules.length === 0) return 'the audit policy has no rules';
  // The first rule that takes a request decides.
  const first = rules.findIndex((rule) => takesAll(rule));
  const all = rules[first];
  if (all === undefined || all.level === 'None') return 'the audit policy leaves out requests that no rule names';
  const effective = rules.slice(0, first + 1);
  if (effective.some(drops)) return 'a rule of the audit policy leaves out changes';
  const said = effective.find(
    (rule, index) =>
      rule.level.startsWith('Request') &&
      namesSecrets(rule) &&
      !effective.slice(0, index).some((earlier) => earlier.level === 'Metadata' && coversSecrets(earlier)),
  );
  return said === undefined ? undefined : `a rule of the audit policy writes the content of secrets (${said.level})`;
}

function coversSecrets(rule: AuditRule): boolean {
  const names = (rule.resources ?? []).flatMap(({ resources }) => resources ?? []);
  return takesAll(rule) || secretObjects.every((name) => names.includes(name));
}

export const configurationControls: readonly AuditControl[] = [
  {
    id: '3.1.1',
    title: 'people do not log in with client certificates',
    why: 'A certificate cannot be taken back before it ends.',
    remedy: 'Give people an identity provider (OIDC) and let the certificates that were signed end.',
    look: ({ api }) =>
      ifSeen(api, ({ signedClients }) =>
        signedClients.length > 0
          ? verdictOf(signedClients.map((where) => ({ where, seen: 'a client certificate was signed for a person' })))
          : notApplicable(
              `the one person with a certificate is the administrator, by the group ${adminGroup}: to delete its binding takes every such certificate back. No other was signed; users of yours need an identity provider of yours`,
            ),
      ),
  },
  {
    id: '3.1.2',
    title: 'people do not log in with tokens of service accounts',
    why: 'A token in a Secret never ends, and says nothing about who uses it.',
    remedy: 'Delete the Secret; kubectl create token makes tokens that end.',
    look: ({ api }) =>
      ifSeen(api, ({ lastingTokens }) =>
        verdictOf(
          lastingTokens.map(({ namespace, name }) => ({
            where: `Secret ${namespace}/${name}`,
            seen: 'holds a token of a service account that never ends',
          })),
        ),
      ),
  },
  {
    id: '3.1.3',
    title: 'tokens for joining are for machines, and end',
    why: 'A token that never ends, or that gives another group, is a password for whoever finds it.',
    remedy: 'Delete the Secret in kube-system.',
    look: ({ api }) =>
      ifSeen(api, ({ bootstrapTokens }) =>
        verdictOf(
          bootstrapTokens.flatMap(({ name, hasExpiration, groups }) => {
            const where = `Secret kube-system/${name}`;
            const other = groups.filter((group) => !bootstrappers.test(group));
            return [
              ...(hasExpiration ? [] : [{ where, seen: 'is a token for joining that never ends' }]),
              ...(other.length === 0 ? [] : [{ where, seen: `gives the group ${other.join(', ')}` }]),
            ];
          }),
        ),
      ),
  },
  processControl(
    {
      id: '3.2.1',
      title: 'there is an audit policy',
      why: 'Without a policy nothing is written, whatever the path of the log.',
      remedy: 'Set --audit-policy-file in the pod of kube-apiserver.',
    },
    { program: 'kube-apiserver', judge: needsFlags('audit-policy-file') },
  ),
  processControl(
    {
      id: '3.2.2',
      title: 'the audit policy leaves no change out and writes no secret',
      why: 'A log with holes proves nothing; a log with secrets is one more place to steal them from.',
      remedy: 'End the policy with a rule at Metadata for everything, and log Secrets and ConfigMaps at Metadata only.',
    },
    { program: 'kube-apiserver', needsFiles: true, judge: ({ settings }) => judgePolicy(settings.auditPolicy) },
  ),
];
