// Stage 3: the definitions of the kinds (CRDs). The API must have them before objects of these kinds can be applied.
import { toYaml } from '../../kubernetes/yaml.ts';
import { machineConfigCrds } from '../../machine-config/crds.ts';
import { parsesAsObjects } from '../checks.ts';
import { clusterVersionCrd } from '../cluster-version.ts';
import { renderStage } from '../render-stage.ts';

const identity = { number: 3, name: 'api' } as const;

export const api = renderStage({
  ...identity,
  why: 'An object of an unknown kind is refused; its definition has to come first.',
  variable: 'KUBE_APISERVER_OPERATOR_IMAGE',
  inputs: [],
  outputs: ['crd-*.yaml'],
  render: async () =>
    [...machineConfigCrds, clusterVersionCrd].map((crd) => ({
      path: `crd-${(crd as { metadata: { name: string } }).metadata.name}.yaml`,
      content: toYaml(crd),
    })),
  verify: [parsesAsObjects(identity)],
});
