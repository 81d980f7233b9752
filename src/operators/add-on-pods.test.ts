import { expect, test } from 'vitest';
import { z } from 'zod';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { partImages } from '../release/images/images.ts';
import { operators } from './operators.ts';

const image = (name: string): string => `release.firstlight.internal/${name}@sha256:${'0'.repeat(64)}`;

const addOns = operators.filter(({ capability }) => capability !== undefined && capability !== 'DNS');
const objectsOf = (name: string): readonly KubernetesObject[] =>
  addOns
    .filter((operator) => operator.name === name)
    .flatMap((each) => each.manifests(image))
    .flatMap((file) => file.objects);

const podSpec = z.looseObject({
  hostNetwork: z.boolean().optional(),
  tolerations: z.array(z.looseObject({ key: z.string() })),
  securityContext: z.looseObject({ runAsNonRoot: z.literal(true), seccompProfile: z.object({ type: z.string() }) }),
  volumes: z.array(z.looseObject({ hostPath: z.unknown().optional() })).optional(),
  containers: z.array(
    z.looseObject({
      image: z.string(),
      imagePullPolicy: z.literal('IfNotPresent'),
      ports: z.array(z.looseObject({ hostPort: z.number().optional() })).optional(),
      resources: z.object({
        requests: z.object({ cpu: z.string(), memory: z.string() }),
        limits: z.object({ memory: z.string() }),
      }),
      securityContext: z.looseObject({
        allowPrivilegeEscalation: z.literal(false),
        readOnlyRootFilesystem: z.literal(true),
        capabilities: z.object({ drop: z.tuple([z.literal('ALL')]) }),
      }),
    }),
  ),
});
const workloadSchema = z.looseObject({ spec: z.looseObject({ template: z.looseObject({ spec: podSpec }) }) });

const podsOf = (name: string): readonly z.infer<typeof podSpec>[] =>
  objectsOf(name)
    .filter(({ kind }) => kind === 'Deployment' || kind === 'DaemonSet')
    .map((object) => workloadSchema.parse(object).spec.template.spec);

test.each(addOns.map(({ name }) => name))(
  'the pods of %s run as the strictest policy asks, from an image of the release',
  (name) => {
    const operator = addOns.find((each) => each.name === name);
    const pods = podsOf(name);
    expect(pods).not.toEqual([]);
    const known = new Set(partImages.map((each) => each.name));
    expect(operator?.images.filter((each) => !known.has(each))).toEqual([]);
    for (const pod of pods) {
      expect(pod.hostNetwork ?? false).toBe(false);
      expect(pod.volumes?.filter((volume) => volume.hostPath !== undefined) ?? []).toEqual([]);
      expect(
        pod.containers.flatMap(({ ports = [] }) => ports).filter(({ hostPort }) => hostPort !== undefined),
      ).toEqual([]);
      expect(pod.containers.map((each) => each.image)).toEqual(
        pod.containers.map(() => image(operator?.images[0] ?? '')),
      );
      expect(
        pod.tolerations.map(({ key }) => key),
        'a cluster without workers',
      ).toContain('node-role.kubernetes.io/control-plane');
    }
  },
);

const ruleSchema = z.object({
  apiGroups: z.array(z.string()),
  resources: z.array(z.string()),
  verbs: z.array(z.string()),
});

test.each(addOns.map(({ name }) => name))('the rights of %s name what they allow', (name) => {
  const roles = objectsOf(name).filter(({ kind }) => kind === 'Role' || kind === 'ClusterRole');
  const rules = roles.flatMap((role) => z.array(ruleSchema.loose()).parse(role['rules']));
  expect(rules.flatMap(({ apiGroups, resources, verbs }) => [...apiGroups, ...resources, ...verbs])).not.toContain('*');
});

test.each(addOns.map(({ name }) => name))('%s brings no object twice', (name) => {
  const names = objectsOf(name).map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`);
  expect(new Set(names).size).toBe(names.length);
});
