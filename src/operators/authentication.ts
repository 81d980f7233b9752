// Who may use the API: certificates, tokens of service accounts, and tokens of the issuers that the OAuth object names.
// API servers check all of them themselves, so this is as well as they are. Whether a server has loaded a changed list
// of issuers is in its own metrics only, and is not looked at here.
import { z } from 'zod';
import { configurationGroup } from '../contract/cluster-version.ts';
import { judgeStaticPods, staticPodSightings } from './judge-static-pods.ts';
import type { Operator, OperatorHealth, OperatorSight } from './operator.ts';

const component = 'kube-apiserver';
const configuration = { apiVersion: `${configurationGroup}/v1`, kind: 'OAuth', name: 'cluster' } as const;

export const authenticationOperator: Operator = {
  name: 'authentication',
  why: 'People, machines and pods are told apart by the API servers alone; there is no server beside them that could fail.',
  level: 30,
  images: [],
  manifests: () => [],
  looksAt: [...staticPodSightings(component), configuration],
  judge: judgeAuthentication,
  relatedObjects: [{ group: configurationGroup, resource: 'oauths', name: configuration.name }],
};

const providers = z.object({
  identityProviders: z.array(z.object({ openID: z.object({ issuer: z.string() }).nullish() })).nullish(),
});

function judgeAuthentication(seen: OperatorSight): OperatorHealth {
  const { available, progressing, degraded } = judgeStaticPods(seen, { component, enough: () => 1 });
  const [oauth] = seen.objects(configuration.kind);
  const issuers = (providers.safeParse(oauth?.['spec']).data?.identityProviders ?? []).flatMap(
    ({ openID }) => openID?.issuer ?? [],
  );
  const believed = issuers.length === 0 ? 'no issuer of tokens is configured' : `issuers: ${issuers.join(', ')}`;
  return {
    available: available.isSo ? { ...available, message: `${available.message}; ${believed}` } : available,
    progressing,
    degraded,
    versions: { operator: seen.version },
  };
}
