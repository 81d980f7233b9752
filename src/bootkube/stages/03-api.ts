// Stage 3: what belongs to the API whoever runs it: the definitions of the kinds (CRDs), which the API must have before
// objects of these kinds can be applied, and of the pod of kube-apiserver its skeleton, the secrets that it mounts and
// its TLS settings. Stage 8 completes the pod.
import { parse as parseYaml } from 'yaml';
import { type ApiserverParts, apiserverParts } from '../../control-plane/apiserver-pod.ts';
import { componentHoldings } from '../../control-plane/component-holdings.ts';
import { componentFolder } from '../../control-plane/control-plane-paths.ts';
import { modeOfKeyFile } from '../../control-plane/master-keys.ts';
import type { PodSkeleton } from '../../control-plane/static-pod.ts';
import { toYaml } from '../../kubernetes/yaml.ts';
import { machineConfigCrds } from '../../machine-config/crds.ts';
import { definitionsAreUsable, parsesAsObjects, readRendered } from '../checks.ts';
import type { BootkubeContext } from '../context.ts';
import { renderStage, type StageCheck, type StageFile } from '../render-stage.ts';

const identity = { number: 3, name: 'api' } as const;
const component = 'kube-apiserver';
/** Not beside the definitions: what is there is applied. */
const files = {
  skeleton: `${component}/pod-skeleton.yaml`,
  secrets: `${component}/secret-mounts.json`,
  tls: `${component}/tls.json`,
} as const;

/** The settings of the API server must fit the folder that its container sees. */
const partsFit: StageCheck = {
  name: 'the API server mounts the secrets that its TLS settings name',
  run: async (context) => {
    const { skeleton, tls } = await readApiParts(context);
    const secrets = JSON.parse(await readRendered(context, identity, files.secrets)) as SecretMounts;
    const mounts = (skeleton.spec.containers[0]?.['volumeMounts'] ?? []) as readonly { readonly mountPath?: string }[];
    if (!mounts.some(({ mountPath }) => mountPath === secrets.folder)) return `nothing mounts ${secrets.folder}`;
    const named = Object.values(tls).filter((value) => value.startsWith('/'));
    const strange = named.find((path) => !secrets.files.some(({ name }) => path === `${secrets.folder}/${name}`));
    return strange === undefined ? undefined : `${strange} is none of the mounted secrets`;
  },
};

export const api = renderStage({
  ...identity,
  why: 'Renders the definitions of kinds, and whom the API server trusts. Both must be there before anything uses them.',
  variable: 'KUBE_APISERVER_OPERATOR_IMAGE',
  inputs: [],
  outputs: ['crd-*.yaml', ...Object.values(files)],
  render: async (context) => [...definitions(), ...apiserverFiles(context)],
  verify: [parsesAsObjects(identity), definitionsAreUsable(identity), partsFit],
});

function definitions(): readonly StageFile[] {
  return machineConfigCrds.map((crd) => ({
    path: `crd-${crd.metadata.name}.yaml`,
    content: toYaml(crd),
  }));
}

interface SecretMounts {
  /** On the machine and in the container. */
  readonly folder: string;
  /** Whom the files belong to. */
  readonly uid: number;
  readonly files: readonly { readonly name: string; readonly mode: string }[];
}

function apiserverFiles({ machine }: BootkubeContext): readonly StageFile[] {
  const { skeleton, tls } = apiserverParts({ advertiseAddress: machine.address, isBootstrap: true });
  const { uid, leaves, bundles, masterKeys } = componentHoldings[component];
  const names = [
    ...leaves.flatMap((leaf) => [`${leaf}.crt`, `${leaf}.key`]),
    ...bundles.map((bundle) => `${bundle}.crt`),
    ...masterKeys,
  ];
  const secrets: SecretMounts = {
    folder: componentFolder(component),
    uid,
    files: names.map((name) => ({ name, mode: modeOfKeyFile(name).toString(8).padStart(4, '0') })),
  };
  return [
    { path: files.skeleton, content: toYaml(skeleton) },
    { path: files.secrets, content: `${JSON.stringify(secrets, null, 2)}\n` },
    { path: files.tls, content: `${JSON.stringify(tls, null, 2)}\n` },
  ];
}

/** As this stage has rendered them. */
export async function readApiParts(context: BootkubeContext): Promise<ApiserverParts> {
  return {
    skeleton: parseYaml(await readRendered(context, identity, files.skeleton)) as PodSkeleton,
    tls: JSON.parse(await readRendered(context, identity, files.tls)) as ApiserverParts['tls'],
  };
}
