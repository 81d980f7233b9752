// Sections 5.3 to 5.6: network policies, secrets of pods, provenance of images, namespaces.
import { systemNamespace } from '../../contract/cluster-objects.ts';
import { type AuditControl, type ControlVerdict, failed, notApplicable, passed, verdictOf } from '../control.ts';
import { type ApiSecurity, type AuditedMachine, type AuditedPod, type AuditFacts, isInPlacePod } from '../facts.ts';
import { flagList, genuineProcesses, ifSeen } from '../machine-looks.ts';

/** Types of pod networks that enforce NetworkPolicies. */
const enforcingPlugins = ['calico', 'canal', 'cilium-cni', 'antrea', 'weave-net', 'ovn-k8s-cni-overlay', 'kube-router'];

function pluginsOf(machines: readonly AuditedMachine[]): readonly string[] {
  return machines.flatMap(({ security }) =>
    security.status === 'seen' ? security.value.networkFiles.flatMap(({ plugins }) => plugins) : [],
  );
}

const enforcesPolicies = (machines: readonly AuditedMachine[]): boolean =>
  pluginsOf(machines).some((plugin) => enforcingPlugins.includes(plugin));

function saysThatItDoesNot({ networkPolicyAnswers }: ApiSecurity): ControlVerdict | undefined {
  if (networkPolicyAnswers.length === 0) return undefined;
  return notApplicable(
    `this pod network does not enforce NetworkPolicies, and the API tells everybody who makes one (${networkPolicyAnswers.join(', ')})`,
  );
}

function lookAtNetwork({ machines, api }: AuditFacts): ControlVerdict {
  if (enforcesPolicies(machines)) return passed;
  return ifSeen(api, (seen) => {
    const plugins = [...new Set(pluginsOf(machines))].join(', ');
    const ignored = {
      where: 'pod network',
      seen: `${plugins || 'its plugin'} ignores NetworkPolicies, and nobody is told`,
    };
    return saysThatItDoesNot(seen) ?? failed([ignored]);
  });
}

function lookAtNetworkPolicies({ machines, api }: AuditFacts): ControlVerdict {
  return ifSeen(api, (seen) => {
    const answer = enforcesPolicies(machines) ? undefined : saysThatItDoesNot(seen);
    if (answer !== undefined) return answer;
    const used = namespacesOfUsers(seen).filter(
      (name) => !seen.networkPolicies.some(({ namespace }) => namespace === name),
    );
    return verdictOf(used.map((name) => ({ where: `Namespace ${name}`, seen: 'has pods and no NetworkPolicy' })));
  });
}

/** Namespaces besides ours that have pods. */
function namespacesOfUsers({ pods }: ApiSecurity): readonly string[] {
  const used = new Set(pods.filter((pod) => !isInPlacePod(pod)).map(({ namespace }) => namespace));
  return [...used].filter((name) => name !== systemNamespace);
}

const podText = ({ namespace, name }: AuditedPod): string => `Pod ${namespace}/${name}`;

function unconfinedPods({ machines }: AuditFacts, { pods }: ApiSecurity): ControlVerdict {
  const hasDefault = (node: string): boolean => {
    const kubelet = machines.find(({ name }) => name === node)?.kubelet;
    return kubelet?.status === 'seen' && kubelet.value.seccompDefault === true;
  };
  const found = pods
    .filter((pod) => !isInPlacePod(pod))
    .flatMap((pod) => {
      const open = pod.containers.filter(({ seccompProfile, isPrivileged }) =>
        seccompProfile === undefined ? isPrivileged || !hasDefault(pod.node) : seccompProfile === 'Unconfined',
      );
      const names = open.map(({ name }) => name).join(', ');
      return open.length === 0 ? [] : [{ where: podText(pod), seen: `runs without a seccomp profile: ${names}` }];
    });
  return verdictOf(found);
}

/** Kubernetes makes it, and makes it again. */
const ofKubernetes = new Set(['kubernetes']);

export const generalPolicyControls: readonly AuditControl[] = [
  {
    id: '5.3.1',
    title: 'the pod network enforces NetworkPolicies, or says that it does not',
    why: 'A policy that is accepted and ignored is worse than none: people rely on it.',
    remedy: 'Bring the admission policy that warns about NetworkPolicies back, or a pod network that enforces them.',
    look: lookAtNetwork,
  },
  {
    id: '5.3.2',
    title: 'every namespace with pods has a NetworkPolicy',
    why: 'Without one every pod reaches every other pod.',
    remedy: 'Make a NetworkPolicy in the namespace that denies what nobody needs.',
    look: lookAtNetworkPolicies,
  },
  {
    id: '5.4.1',
    title: 'pods get Secrets as files, not as variables',
    why: 'Variables end up in logs, in crash reports and in every child process.',
    remedy: 'Mount the Secret as a volume.',
    look: ({ api }) =>
      ifSeen(api, ({ pods }) =>
        verdictOf(
          pods.flatMap((pod) => {
            const secrets = pod.containers.flatMap(({ secretVariables }) => secretVariables);
            return secrets.length === 0
              ? []
              : [{ where: podText(pod), seen: `has ${secrets.join(', ')} in variables` }];
          }),
        ),
      ),
  },
  {
    id: '5.4.2',
    title: 'secrets are kept outside the cluster where that is needed',
    why: 'A store outside can give secrets for minutes and write down who took them.',
    remedy: 'Decide for your workloads.',
    look: () =>
      notApplicable(
        'a decision about your workloads; Secrets of the cluster are encrypted before they reach etcd (1.2.28)',
      ),
  },
  {
    id: '5.5.1',
    title: 'images come from where they should',
    why: 'Who can bring an image into the cluster runs a program there.',
    remedy: 'Enable ImagePolicyWebhook, or a webhook that verifies signatures.',
    look: (facts) => {
      const hasPlugin = facts.machines.some((machine) =>
        genuineProcesses(facts, machine, 'kube-apiserver').some((process) =>
          flagList(process, 'enable-admission-plugins').includes('ImagePolicyWebhook'),
        ),
      );
      return hasPlugin
        ? passed
        : notApplicable(
            'images of the release are named by digest and come with the machines; which registries your pods may use is a decision about your workloads',
          );
    },
  },
  {
    id: '5.6.1',
    title: 'namespaces divide what belongs to different people',
    why: 'Rights, limits and policies end at the border of a namespace.',
    remedy: 'Give each team and each application a namespace of its own.',
    look: ({ api }) =>
      ifSeen(api, (seen) => {
        const used = namespacesOfUsers(seen);
        return notApplicable(
          used.length === 0
            ? 'there are no workloads yet'
            : `how workloads are divided is your decision; they are in ${used.join(', ')}`,
        );
      }),
  },
  {
    id: '5.6.2',
    title: 'every pod runs with a seccomp profile',
    why: 'Without it every system call of the kernel is open to the pod.',
    remedy: 'Set seccompProfile: RuntimeDefault for the pod, or seccompDefault for the kubelet.',
    look: (facts) => ifSeen(facts.api, (api) => unconfinedPods(facts, api)),
  },
  {
    id: '5.6.3',
    title: 'every container has a security context',
    why: 'A container without one runs as its image says, most often as root with capabilities.',
    remedy: 'Set securityContext for the pod or its containers.',
    look: ({ api }) =>
      ifSeen(api, ({ pods }) =>
        verdictOf(
          pods
            .filter(({ containers }) => containers.some(({ hasSecurityContext }) => !hasSecurityContext))
            .map((pod) => ({ where: podText(pod), seen: 'has containers without a security context' })),
        ),
      ),
  },
  {
    id: '5.6.4',
    title: 'nothing is in the namespace default',
    why: 'What is put there without thought shares rights with everything else that was.',
    remedy: 'Move it to a namespace of its own.',
    look: ({ api }) =>
      ifSeen(api, ({ pods, services }) => {
        const things = [
          ...pods.map((pod) => ({ ...pod, kind: 'Pod' })),
          ...services.filter(({ name }) => !ofKubernetes.has(name)).map((service) => ({ ...service, kind: 'Service' })),
        ];
        return verdictOf(
          things
            .filter(({ namespace }) => namespace === 'default')
            .map(({ kind, name }) => ({ where: `${kind} default/${name}`, seen: 'is in the namespace default' })),
        );
      }),
  },
];
