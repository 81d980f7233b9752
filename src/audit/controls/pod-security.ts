// Section 5.2: what pods may ask of their node. Admission is looked at by namespace (5.2.1), everything else by the
// pods that were let in. kube-system is where the control plane and the add-ons are; its static pods need the node.
import { z } from 'zod';
import { systemNamespace } from '../../contract/cluster-objects.ts';
import { versionOperator } from '../../contract/cluster-version.ts';
import { inPlaceNamespace } from '../../contract/in-place.ts';
import {
  type AuditControl,
  type AuditFinding,
  type ControlText,
  type ControlVerdict,
  combineVerdicts,
  notApplicable,
  verdictOf,
} from '../control.ts';
import {
  type ApiSecurity,
  type AuditedContainer,
  type AuditedPod,
  type AuditFacts,
  isInPlacePod,
  isVersionOperatorPod,
} from '../facts.ts';
import { genuineProcesses, ifSeen } from '../machine-looks.ts';

const admissionSchema = z.object({
  plugins: z.array(
    z.object({
      name: z.string(),
      configuration: z
        .looseObject({
          defaults: z.looseObject({ enforce: z.string().optional() }).optional(),
          exemptions: z.looseObject({ namespaces: z.array(z.string()).nullish() }).optional(),
        })
        .nullish(),
    }),
  ),
});

interface PodSecurityDefault {
  readonly enforce: string;
  readonly exempt: readonly string[];
}

/** What each kube-apiserver does with a namespace without a label. */
function defaultsOf(facts: AuditFacts): readonly (PodSecurityDefault & { readonly machine: string })[] {
  return facts.machines.flatMap((machine) =>
    genuineProcesses(facts, machine, 'kube-apiserver').map(({ settings }) => {
      const plugins = admissionSchema.safeParse(settings.admission).data?.plugins ?? [];
      const configuration = plugins.find(({ name }) => name === 'PodSecurity')?.configuration;
      return {
        machine: machine.name,
        enforce: configuration?.defaults?.enforce ?? 'privileged',
        exempt: configuration?.exemptions?.namespaces ?? [],
      };
    }),
  );
}

/**
 * The pods of the in-place bootstrapper change their machine, and that of the version operator has its network. Nobody
 * but administrators makes pods beside them.
 */
const openByNature: readonly string[] = [systemNamespace, inPlaceNamespace, versionOperator.namespace];

const isLimited = (level: string): boolean => level === 'baseline' || level === 'restricted';

function openNamespaces(facts: AuditFacts, { namespaces }: ApiSecurity): ControlVerdict {
  const defaults = defaultsOf(facts);
  const others = namespaces.filter(({ name }) => !openByNature.includes(name));
  const labelled = others
    .filter(({ enforce }) => enforce !== undefined && !isLimited(enforce))
    .map(({ name, enforce }) => ({ where: `Namespace ${name}`, seen: `enforces ${enforce ?? ''}` }));
  const byDefault = others
    .filter(({ enforce }) => enforce === undefined)
    .flatMap(({ name }) =>
      defaults
        .filter(({ enforce, exempt }) => !isLimited(enforce) || exempt.includes(name))
        .map(({ machine }) => ({
          where: `Namespace ${name}`,
          seen: `has no label, and kube-apiserver of ${machine} enforces nothing there`,
        })),
    );
  const verdict = verdictOf([...labelled, ...byDefault]);
  if (defaults.length > 0 || others.every(({ enforce }) => enforce !== undefined)) return verdict;
  const unlabelled = ifUnseen(facts.machines, 'what holds for a namespace without a label was not seen');
  return combineVerdicts([verdict, unlabelled].map((each) => ({ ...each, where: 'kube-apiserver' })));
}

/** Nobody could look into a machine, or nobody ever can. */
function ifUnseen(machines: AuditFacts['machines'], reason: string): ControlVerdict {
  const isPossible = machines.every(({ security }) => security.status === 'seen' || security.isPossible);
  return isPossible ? { result: 'unknown', reason } : notApplicable(reason);
}

type PodFilter = (pod: AuditedPod) => boolean;

const everyPod: PodFilter = () => true;
/** The control plane itself is let in by the kubelet, from files of the machine; no admission decides about it. */
const notStatic: PodFilter = ({ staticUid }) => staticUid === undefined;
const ofUsers: PodFilter = ({ namespace }) => namespace !== systemNamespace;

function podControl(text: ControlText, among: PodFilter, seen: (pod: AuditedPod) => string | undefined): AuditControl {
  const look = ({ api }: AuditFacts): ControlVerdict =>
    ifSeen(api, ({ pods }) =>
      verdictOf(
        pods
          .filter((pod) => among(pod) && !isInPlacePod(pod))
          .flatMap((pod): readonly AuditFinding[] => {
            const found = seen(pod);
            return found === undefined ? [] : [{ where: `Pod ${pod.namespace}/${pod.name}`, seen: found }];
          }),
      ),
    );
  return { ...text, look };
}

/** Names the containers for which something holds. */
const containersThat =
  (holds: (container: AuditedContainer) => boolean, what: string) =>
  ({ containers }: AuditedPod): string | undefined => {
    const names = containers.filter(holds).map(({ name }) => name);
    return names.length === 0 ? undefined : `${what}: ${names.join(', ')}`;
  };

const mayBeRoot = ({ runAsNonRoot, runAsUser }: AuditedContainer): boolean =>
  runAsUser === undefined ? !runAsNonRoot : runAsUser === 0;
const dropsAll = ({ droppedCapabilities }: AuditedContainer): boolean => droppedCapabilities.includes('ALL');
const hasNetRaw = (container: AuditedContainer): boolean =>
  !dropsAll(container) && !container.droppedCapabilities.includes('NET_RAW');

const notLetIn = 'Delete the pod, and let its namespace enforce baseline or restricted.';

export const podSecurityControls: readonly AuditControl[] = [
  {
    id: '5.2.1',
    title: 'every namespace of users limits its pods',
    why: 'Without a limit, who may make a pod in a namespace is root on a node.',
    remedy: 'Label the namespace pod-security.kubernetes.io/enforce: baseline, or take its label away for the default.',
    look: (facts) => ifSeen(facts.api, (api) => openNamespaces(facts, api)),
  },
  podControl(
    { id: '5.2.2', title: 'no privileged containers', why: 'Such a container is root on its node.', remedy: notLetIn },
    everyPod,
    containersThat(({ isPrivileged }) => isPrivileged, 'privileged'),
  ),
  podControl(
    {
      id: '5.2.3',
      title: 'no pods among the processes of the node',
      why: 'They see, and may end, every process of the node.',
      remedy: notLetIn,
    },
    everyPod,
    ({ hostPid }) => (hostPid ? 'has hostPID' : undefined),
  ),
  podControl(
    {
      id: '5.2.4',
      title: 'no pods in the IPC namespace of the node',
      why: 'They read the shared memory of programs of the node.',
      remedy: notLetIn,
    },
    everyPod,
    ({ hostIpc }) => (hostIpc ? 'has hostIPC' : undefined),
  ),
  podControl(
    {
      id: '5.2.5',
      title: 'only the control plane is on the network of the node',
      why: 'There a pod reaches what listens on the loopback and sees the traffic of the node.',
      remedy: notLetIn,
    },
    (pod) => notStatic(pod) && !isVersionOperatorPod(pod),
    ({ hostNetwork }) => (hostNetwork ? 'has hostNetwork' : undefined),
  ),
  podControl(
    {
      id: '5.2.6',
      title: 'containers of users cannot gain privileges',
      why: 'Otherwise a program with the setuid bit makes its caller root in the container.',
      remedy: 'Set allowPrivilegeEscalation: false; a namespace that enforces restricted demands it.',
    },
    ofUsers,
    containersThat(({ mayEscalate }) => mayEscalate, 'may gain privileges'),
  ),
  podControl(
    {
      id: '5.2.7',
      title: 'containers of users do not run as root',
      why: 'Root in a container is root on the node for a kernel with one hole.',
      remedy: 'Set runAsNonRoot: true or a runAsUser; a namespace that enforces restricted demands it.',
    },
    ofUsers,
    containersThat(mayBeRoot, 'may run as root'),
  ),
  podControl(
    {
      id: '5.2.8',
      title: 'containers of users cannot forge packets',
      why: 'With NET_RAW a container can answer in the name of its neighbours.',
      remedy: 'Drop NET_RAW or ALL; a namespace that enforces restricted demands it.',
    },
    ofUsers,
    containersThat(hasNetRaw, 'has NET_RAW'),
  ),
  podControl(
    {
      id: '5.2.9',
      title: 'containers of users have no capabilities',
      why: 'Each capability is a part of what root may do.',
      remedy: 'Drop ALL; a namespace that enforces restricted demands it.',
    },
    ofUsers,
    containersThat((container) => !dropsAll(container), 'keeps capabilities'),
  ),
  {
    id: '5.2.10',
    title: 'no HostProcess containers',
    why: 'On Windows such a container is a process of the node.',
    remedy: notLetIn,
    look: ({ api }) =>
      ifSeen(api, ({ pods }) => {
        const found = pods.filter(({ containers }) => containers.some(({ isHostProcess }) => isHostProcess));
        return found.length === 0
          ? notApplicable('no node runs Windows')
          : verdictOf(
              found.map(({ namespace, name }) => ({ where: `Pod ${namespace}/${name}`, seen: 'is a HostProcess' })),
            );
      }),
  },
  podControl(
    {
      id: '5.2.11',
      title: 'only the control plane has files of the node',
      why: 'A pod with a folder of the node can write what the node runs.',
      remedy: notLetIn,
    },
    notStatic,
    ({ hostPaths }) => (hostPaths.length === 0 ? undefined : `mounts ${hostPaths.join(', ')} of the node`),
  ),
  podControl(
    {
      id: '5.2.12',
      title: 'no ports of the node for pods',
      why: 'Such a port is open to everybody who reaches the node, past every Service.',
      remedy: notLetIn,
    },
    notStatic,
    ({ containers }) => {
      const ports = containers.flatMap(({ hostPorts }) => hostPorts);
      return ports.length === 0 ? undefined : `has the ports ${ports.join(', ')} of the node`;
    },
  ),
];
