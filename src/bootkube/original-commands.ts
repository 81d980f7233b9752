// What the original bootkube.sh runs at each stage, as the document about it writes it. People see it beside what runs
// here. The commands that run an operator are values: an image that renders a component is called with the same words.
import { releaseImageVariable } from '../contract/bootkube-environment.ts';
import { apiPort } from '../contract/ports.ts';

/** Where a container that renders finds what it reads, and writes. */
export const assetFolder = '/assets';
export const assetInputFolder = `${assetFolder}/tls`;
export const assetManifestFolder = `${assetFolder}/manifests`;

export interface OperatorCommand {
  /** The image variable. */
  readonly variable: string;
  readonly program: string;
  readonly verb: string;
  readonly args: readonly string[];
  readonly outputFolder: string;
}

const releaseImageWord = `\${${releaseImageVariable}}`;

const operator = (variable: string, program: string, output: string): OperatorCommand => {
  const outputFolder = `${assetFolder}/${output}`;
  const args = [`--asset-input-dir=${assetInputFolder}`, `--asset-output-dir=${outputFolder}`];
  return { variable, program, verb: 'render', args, outputFolder };
};

const versionOperator: OperatorCommand = {
  variable: 'CVO_IMAGE',
  program: 'cluster-version-operator',
  verb: 'render',
  args: [`--release-image=${releaseImageWord}`, `--output-dir=${assetFolder}/cvo-bootstrap`],
  outputFolder: `${assetFolder}/cvo-bootstrap`,
};

const machineConfig = operator('MACHINE_CONFIG_OPERATOR_IMAGE', 'machine-config-operator', 'mco-bootstrap');

/** The stages in which the original runs an operator that renders, by their numbers. */
export const operatorCommands: Readonly<Record<number, OperatorCommand>> = {
  3: operator('KUBE_APISERVER_OPERATOR_IMAGE', 'cluster-kube-apiserver-operator', 'kube-apiserver-bootstrap'),
  4: operator('AUTHENTICATION_OPERATOR_IMAGE', 'authentication-operator', 'auth'),
  5: operator('CONFIG_OPERATOR_IMAGE', 'config-operator', 'config-bootstrap'),
  6: versionOperator,
  7: operator('ETCD_OPERATOR_IMAGE', 'cluster-etcd-operator', 'etcd-bootstrap'),
  8: operator('KUBE_APISERVER_OPERATOR_IMAGE', 'cluster-kube-apiserver-operator', 'kube-apiserver'),
  9: operator(
    'KUBE_CONTROLLER_MANAGER_OPERATOR_IMAGE',
    'cluster-kube-controller-manager-operator',
    'kube-controller-manager',
  ),
  10: operator('KUBE_SCHEDULER_OPERATOR_IMAGE', 'cluster-kube-scheduler-operator', 'kube-scheduler'),
  11: operator('INGRESS_OPERATOR_IMAGE', 'ingress-operator', 'ingress'),
  12: {
    ...machineConfig,
    verb: 'bootstrap',
    args: [...machineConfig.args, `--machine-config-file=${assetManifestFolder}/*.yaml`],
  },
};

/** The words after the program, for an image that is called as the original calls its operator. */
export function operatorWords({ verb, args }: OperatorCommand, releaseImage: string): readonly string[] {
  return [verb, ...args.map((arg) => arg.replace(releaseImageWord, releaseImage))];
}

function commandText({ variable, program, verb, args }: OperatorCommand): string {
  return lines(
    `podman run ... \${${variable}} \\`,
    `  /usr/bin/${program} ${verb} \\`,
    ...args.map((arg) => `  ${arg} \\`),
    '  ...',
  );
}

/** By the number of the stage. */
export const originalCommands: Readonly<Record<number, string>> = {
  1: 'cp -r /opt/openshift/manifests /assets/manifests',
  2:
    'RELEASE_IMAGE_DIGEST=$(oc adm release info ${RELEASE_IMAGE} --registry-config=/root/.docker/config.json -o json ' +
    "| jq -r '.digest')",
  ...Object.fromEntries(Object.entries(operatorCommands).map(([number, command]) => [number, commandText(command)])),
  13: lines(
    'podman run ... ${CLUSTER_BOOTSTRAP_IMAGE} \\',
    '  /usr/bin/cluster-bootstrap \\',
    '  start --asset-dir=/assets \\',
    '  ...',
  ),
  14: lines('# Apply CVO manifests', 'oc apply -f /assets/cvo-bootstrap/'),
  15: lines(
    'wait_for_api() {',
    `  until curl -k https://localhost:${apiPort}/healthz; do`,
    '    sleep 5',
    '  done',
    '}',
  ),
};

/** After the numbered stages, until the masters carry the cluster. */
export const originalWait = '/usr/bin/bootstrap-progress-listener --bootstrap-complete';

function lines(...each: readonly string[]): string {
  return each.join('\n');
}
