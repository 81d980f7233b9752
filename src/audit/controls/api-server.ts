// Section 1.2: the flags that every kube-apiserver really runs with, and the files that they name.
import type { AuditControl, ControlText } from '../control.ts';
import { needsFlags, needsFlagValue, type ProcessLook, processControl } from '../machine-looks.ts';
import {
  alwaysPulls,
  anonymousOnlyForHealth,
  atLeast,
  authorizes,
  encryptsSecrets,
  keepsLookup,
  keepsPlugin,
  limitsEvents,
  needsMode,
  needsPlugin,
  strongSuites,
  timeoutIsShort,
  withoutAlwaysAdmit,
  withoutTokenFile,
} from './api-server-judgements.ts';

const apiserver = (
  text: ControlText,
  judge: ProcessLook['judge'],
  options: Pick<ProcessLook, 'needsFiles'> = {},
): AuditControl => processControl(text, { program: 'kube-apiserver', judge, ...options });

const setFlag = 'Set the flag in the pod of kube-apiserver; firstlight sets it, so find out who took it away.';

export const apiServerControls: readonly AuditControl[] = [
  apiserver(
    {
      id: '1.2.1',
      title: 'anonymous requests: refused, or for health only',
      why: 'A request without a name can be traced to nobody, and a wrong binding would open the API to strangers.',
      remedy:
        'Name an authentication configuration that allows anonymous requests for /livez, /readyz and /healthz only.',
    },
    anonymousOnlyForHealth,
    { needsFiles: true },
  ),
  apiserver(
    {
      id: '1.2.2',
      title: 'no tokens from a file',
      why: 'Such tokens never end, lie on the disk in clear, and need a restart to be taken back.',
      remedy: 'Take --token-auth-file away.',
    },
    withoutTokenFile,
  ),
  apiserver(
    {
      id: '1.2.3',
      title: 'Services may not claim external addresses',
      why: 'Who may make a Service could catch traffic to any address that it claims.',
      remedy: 'Add DenyServiceExternalIPs to --enable-admission-plugins.',
    },
    needsPlugin('DenyServiceExternalIPs'),
  ),
  apiserver(
    {
      id: '1.2.4',
      title: 'shows kubelets a certificate of its own',
      why: 'Without it a kubelet has to let callers in that it does not know.',
      remedy: setFlag,
    },
    needsFlags('kubelet-client-certificate', 'kubelet-client-key'),
  ),
  apiserver(
    {
      id: '1.2.5',
      title: 'verifies the certificates of kubelets',
      why: 'Without it, whoever answers at the address of a node gets what exec and logs carry.',
      remedy: setFlag,
    },
    needsFlags('kubelet-certificate-authority'),
  ),
  apiserver(
    { id: '1.2.6', title: 'does not allow everything', why: 'Every request must be decided on.', remedy: setFlag },
    authorizes,
  ),
  apiserver(
    {
      id: '1.2.7',
      title: 'authorizes nodes by the Node mode',
      why: 'A kubelet then reads only what belongs to the pods of its own node.',
      remedy: setFlag,
    },
    needsMode('Node'),
  ),
  apiserver(
    {
      id: '1.2.8',
      title: 'authorizes by RBAC',
      why: 'Rights are then objects that can be read and audited.',
      remedy: setFlag,
    },
    needsMode('RBAC'),
  ),
  apiserver(
    {
      id: '1.2.9',
      title: 'limits the rate of events',
      why: 'A program that fails in a loop could otherwise fill etcd with events.',
      remedy: 'Add EventRateLimit to --enable-admission-plugins, with its limits in the admission configuration.',
    },
    limitsEvents,
  ),
  apiserver(
    {
      id: '1.2.10',
      title: 'the plugin AlwaysAdmit is off',
      why: 'It admits everything, whatever the other plugins say.',
      remedy: 'Take AlwaysAdmit away from --enable-admission-plugins.',
    },
    withoutAlwaysAdmit,
  ),
  apiserver(
    {
      id: '1.2.11',
      title: 'a private image needs its credentials on every node',
      why: 'Otherwise a pod could use a private image only because another pod has pulled it to the same node.',
      remedy: 'Set imagePullCredentialsVerificationPolicy of the kubelets, or enable AlwaysPullImages.',
    },
    alwaysPulls,
  ),
  apiserver(
    {
      id: '1.2.12',
      title: 'the plugin ServiceAccount is on',
      why: 'It gives each pod the identity of its own service account, and no other.',
      remedy: 'Take ServiceAccount away from --disable-admission-plugins.',
    },
    keepsPlugin('ServiceAccount'),
  ),
  apiserver(
    {
      id: '1.2.13',
      title: 'the plugin NamespaceLifecycle is on',
      why: 'Without it objects appear in namespaces that are being deleted, and stay.',
      remedy: 'Take NamespaceLifecycle away from --disable-admission-plugins.',
    },
    keepsPlugin('NamespaceLifecycle'),
  ),
  apiserver(
    {
      id: '1.2.14',
      title: 'the plugin NodeRestriction is on',
      why: 'A kubelet then changes only its own Node and the pods that run there.',
      remedy: 'Add NodeRestriction to --enable-admission-plugins.',
    },
    needsPlugin('NodeRestriction'),
  ),
  apiserver(
    {
      id: '1.2.15',
      title: 'kube-apiserver: profiling is off',
      why: 'Profiles show the inside of the program, and making one costs it time.',
      remedy: 'Set --profiling=false.',
    },
    needsFlagValue('profiling', 'false'),
  ),
  apiserver(
    {
      id: '1.2.16',
      title: 'writes an audit log',
      why: 'Without it nobody can say later who did what.',
      remedy: setFlag,
    },
    needsFlags('audit-log-path'),
  ),
  apiserver(
    {
      id: '1.2.17',
      title: 'keeps the audit log for 30 days',
      why: 'An attack is often found weeks later.',
      remedy: 'Set --audit-log-maxage=30 or more.',
    },
    atLeast('audit-log-maxage', 30),
  ),
  apiserver(
    {
      id: '1.2.18',
      title: 'keeps ten rotated audit logs',
      why: 'With fewer files an attacker could push the traces out with a flood of requests.',
      remedy: 'Set --audit-log-maxbackup=10 or more.',
    },
    atLeast('audit-log-maxbackup', 10),
  ),
  apiserver(
    {
      id: '1.2.19',
      title: 'rotates the audit log at 100 MB',
      why: 'The size of a file times their number is what can be looked back at, and what the disk must hold.',
      remedy: 'Set --audit-log-maxsize=100 or more.',
    },
    atLeast('audit-log-maxsize', 100),
  ),
  apiserver(
    {
      id: '1.2.20',
      title: 'ends requests within five minutes',
      why: 'Requests that never end hold memory and places in the queue.',
      remedy: 'Set --request-timeout to five minutes or less, or take it away for the default of one minute.',
    },
    timeoutIsShort,
  ),
  apiserver(
    {
      id: '1.2.21',
      title: 'asks whether a service account still exists',
      why: 'The token of a deleted service account must not work any more.',
      remedy: 'Take --service-account-lookup=false away.',
    },
    keepsLookup,
  ),
  apiserver(
    {
      id: '1.2.22',
      title: 'verifies service accounts with a key of their own',
      why: 'Otherwise the key of the server itself is used, and neither can be replaced without the other.',
      remedy: setFlag,
    },
    needsFlags('service-account-key-file'),
  ),
  apiserver(
    {
      id: '1.2.23',
      title: 'shows etcd a certificate of its own',
      why: 'etcd must be able to refuse everybody else.',
      remedy: setFlag,
    },
    needsFlags('etcd-certfile', 'etcd-keyfile'),
  ),
  apiserver(
    {
      id: '1.2.24',
      title: 'serves with a certificate that was made for it',
      why: 'Without these files it signs a certificate for itself, which no client can verify.',
      remedy: setFlag,
    },
    needsFlags('tls-cert-file', 'tls-private-key-file'),
  ),
  apiserver(
    {
      id: '1.2.25',
      title: 'knows the authority of its clients',
      why: 'Certificates are how administrators, kubelets and the control plane say who they are.',
      remedy: setFlag,
    },
    needsFlags('client-ca-file'),
  ),
  apiserver(
    {
      id: '1.2.26',
      title: 'verifies the certificate of etcd',
      why: 'It must not write secrets to whoever answers at that address.',
      remedy: setFlag,
    },
    needsFlags('etcd-cafile'),
  ),
  apiserver(
    {
      id: '1.2.27',
      title: 'has an encryption configuration',
      why: 'Without it a copy of the disk of etcd is a copy of every secret.',
      remedy: setFlag,
    },
    needsFlags('encryption-provider-config'),
  ),
  apiserver(
    {
      id: '1.2.28',
      title: 'encrypts Secrets before they reach etcd',
      why: 'The first provider of the list is the one that writes: the provider identity writes in clear.',
      remedy:
        'Put aescbc, aesgcm, secretbox or kms first; firstlight secrets rotate-key then writes all Secrets again.',
    },
    encryptsSecrets,
    { needsFiles: true },
  ),
  apiserver(
    {
      id: '1.2.29',
      title: 'kube-apiserver: strong cipher suites only',
      why: 'A client that offers a broken suite must be refused instead of served.',
      remedy: 'Set --tls-cipher-suites to suites with ECDHE and AES-GCM or ChaCha20, or --tls-min-version to 1.3.',
    },
    strongSuites,
  ),
  apiserver(
    {
      id: '1.2.30',
      title: 'tokens of service accounts end when they say',
      why: 'By default the token of a pod works for a year although it is renewed every hour.',
      remedy: 'Set --service-account-extend-token-expiration=false.',
    },
    needsFlagValue('service-account-extend-token-expiration', 'false'),
  ),
];
