// What the original bootkube.sh runs at each stage, as the document about it writes it. People see it beside what runs
// here; nothing is decided by it.
import { apiPort } from '../contract/ports.ts';

interface OperatorRender {
  readonly image: string;
  readonly program: string;
  readonly output: string;
}

const operator = ({ image, program, output }: OperatorRender): string =>
  lines(
    `podman run ... \${${image}} \\`,
    `  /usr/bin/${program} render \\`,
    '  --asset-input-dir=/assets/tls \\',
    `  --asset-output-dir=/assets/${output} \\`,
    '  ...',
  );

/** By the number of the stage. */
export const originalCommands: Readonly<Record<number, string>> = {
  1: 'cp -r /opt/openshift/manifests /assets/manifests',
  2:
    'RELEASE_IMAGE_DIGEST=$(oc adm release info ${RELEASE_IMAGE} --registry-config=/root/.docker/config.json -o json ' +
    "| jq -r '.digest')",
  3: operator({
    image: 'KUBE_APISERVER_OPERATOR_IMAGE',
    program: 'cluster-kube-apiserver-operator',
    output: 'kube-apiserver-bootstrap',
  }),
  4: operator({ image: 'AUTHENTICATION_OPERATOR_IMAGE', program: 'authentication-operator', output: 'auth' }),
  5: operator({ image: 'CONFIG_OPERATOR_IMAGE', program: 'config-operator', output: 'config-bootstrap' }),
  6: lines(
    'podman run ... ${CVO_IMAGE} \\',
    '  /usr/bin/cluster-version-operator render \\',
    '  --release-image=${RELEASE_IMAGE} \\',
    '  --output-dir=/assets/cvo-bootstrap \\',
    '  ...',
  ),
  7: operator({ image: 'ETCD_OPERATOR_IMAGE', program: 'cluster-etcd-operator', output: 'etcd-bootstrap' }),
  8: operator({
    image: 'KUBE_APISERVER_OPERATOR_IMAGE',
    program: 'cluster-kube-apiserver-operator',
    output: 'kube-apiserver',
  }),
  9: operator({
    image: 'KUBE_CONTROLLER_MANAGER_OPERATOR_IMAGE',
    program: 'cluster-kube-controller-manager-operator',
    output: 'kube-controller-manager',
  }),
  10: operator({
    image: 'KUBE_SCHEDULER_OPERATOR_IMAGE',
    program: 'cluster-kube-scheduler-operator',
    output: 'kube-scheduler',
  }),
  11: operator({ image: 'INGRESS_OPERATOR_IMAGE', program: 'ingress-operator', output: 'ingress' }),
  12: lines(
    'podman run ... ${MACHINE_CONFIG_OPERATOR_IMAGE} \\',
    '  /usr/bin/machine-config-operator bootstrap \\',
    '  --asset-input-dir=/assets/tls \\',
    '  --asset-output-dir=/assets/mco-bootstrap \\',
    '  --machine-config-file=/assets/manifests/*.yaml \\',
    '  ...',
  ),
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
