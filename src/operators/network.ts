// The network of pods, as far as the API shows it: each node has its piece of the range, and its kubelet says that the
// network of the machine works. Routes and service rules are kept by the agents of machines; they are not in the API.
import { z } from 'zod';
import { isLeaving } from '../contract/cluster-objects.ts';
import { configurationGroup } from '../contract/cluster-version.ts';
import { conditionOf } from '../kubernetes/conditions.ts';
import { podRangesOf } from '../kubernetes/node-object.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import type { Operator, OperatorHealth, OperatorSight } from './operator.ts';
import { patienceMs } from './pod-trouble.ts';

const configuration = { apiVersion: `${configurationGroup}/v1`, kind: 'Network', name: 'cluster' } as const;

export const networkOperator: Operator = {
  name: 'network',
  why: 'Pods reach each other across machines only where each node has its piece of the range and a way to the others.',
  level: 70,
  images: [],
  manifests: () => [],
  looksAt: [{ apiVersion: 'v1', kind: 'Node' }, configuration],
  judge: judgeNetwork,
  relatedObjects: [{ group: configurationGroup, resource: 'networks', name: configuration.name }],
};

interface NodeTrouble {
  readonly sentence: string;
  readonly isOld: boolean;
}

function judgeNetwork(seen: OperatorSight): OperatorHealth {
  const nodes = seen.objects('Node').filter((node) => !isLeaving(node));
  const troubles = nodes.flatMap((node) => nodeTrouble(node, seen.now) ?? []);
  const [fresh, old] = [troubles.filter(({ isOld }) => !isOld), troubles.filter(({ isOld }) => isOld)];
  const said = (list: readonly NodeTrouble[]): string => list.map(({ sentence }) => sentence).join('; ');
  const counted = `${nodes.length - troubles.length} of ${nodes.length} nodes have a network of ${typeOf(seen)}`;
  const isUp = troubles.length < nodes.length;
  return {
    available: isUp
      ? { isSo: true, reason: 'AsExpected', message: counted }
      : {
          isSo: false,
          reason: nodes.length === 0 ? 'NoNodes' : 'NoNetwork',
          message: said(troubles) || 'no machine is a node yet',
        },
    progressing:
      fresh.length === 0
        ? { isSo: false, reason: 'AsExpected', message: 'no node is on its way' }
        : { isSo: true, reason: 'NodesComing', message: said(fresh) },
    degraded:
      old.length === 0
        ? { isSo: false, reason: 'AsExpected', message: 'no node is without a network' }
        : { isSo: true, reason: 'NodesWithoutNetwork', message: said(old) },
    versions: { operator: seen.version },
  };
}

const networkSpec = z.object({ networkType: z.string() });

function typeOf(seen: OperatorSight): string {
  const [found] = seen.objects(configuration.kind);
  const type = networkSpec.safeParse(found?.['spec']).data?.networkType;
  return type === undefined ? 'a type that nobody has written down yet' : `type ${type}`;
}

function nodeTrouble(node: KubernetesObject, now: Date): NodeTrouble | undefined {
  const { name, creationTimestamp } = node.metadata;
  const since = (date: Date | undefined): boolean =>
    now.getTime() - (date ?? new Date(creationTimestamp ?? now)).getTime() > patienceMs;
  if (podRangesOf(node).length === 0)
    return { sentence: `node ${name} has no range for pods`, isOld: since(undefined) };
  const unavailable = conditionOf(node, 'NetworkUnavailable');
  if (unavailable?.status === 'True')
    return { sentence: `node ${name} has no network: ${unavailable.message}`, isOld: since(unavailable.since) };
  const ready = conditionOf(node, 'Ready');
  // The words of the runtime; a node that is not Ready for another reason is no matter of the network.
  if (ready?.status === 'False' && /NetworkReady=false|network plugin|cni/i.test(ready.message))
    return { sentence: `node ${name} has no network: ${ready.message}`, isOld: since(ready.since) };
  return undefined;
}
