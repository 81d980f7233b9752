// Sections 4.2 and 4.3: what every kubelet says that it runs with (/configz), and kube-proxy.
import type { AuditControl } from '../control.ts';
import { notApplicable } from '../control.ts';
import { flagOf, flagText, kubeletControl, processControl } from '../machine-looks.ts';
import { weakSuites } from '../tls-suites.ts';

const setting = 'Set the field in the KubeletConfiguration of the pool, or find out who changed it on this machine.';

/** Go writes a duration of zero as `0s`; the kubelet takes it for "never". */
const isZero = (duration: string): boolean => /^0+([a-z]+|$)/.test(duration);

export const kubeletControls: readonly AuditControl[] = [
  kubeletControl(
    {
      id: '4.2.1',
      title: 'the kubelet refuses anonymous requests',
      why: 'Whoever reaches its port could otherwise run commands in every pod of the node.',
      remedy: setting,
    },
    ({ authentication }) =>
      authentication?.anonymous?.enabled === false ? undefined : 'anonymous requests are allowed',
  ),
  kubeletControl(
    {
      id: '4.2.2',
      title: 'the kubelet asks the API who may do what',
      why: 'A certificate says who a caller is, not what the caller may do.',
      remedy: setting,
    },
    ({ authorization }) =>
      authorization?.mode === 'Webhook' ? undefined : `authorization.mode is ${authorization?.mode ?? 'AlwaysAllow'}`,
  ),
  kubeletControl(
    {
      id: '4.2.3',
      title: 'the kubelet knows the authority of its clients',
      why: 'kube-apiserver shows it a certificate, which it must be able to verify.',
      remedy: setting,
    },
    ({ authentication }) => (authentication?.x509?.clientCAFile ? undefined : 'there is no clientCAFile'),
  ),
  kubeletControl(
    {
      id: '4.2.4',
      title: 'the read-only port is closed',
      why: 'It shows pods and their variables to everybody who reaches it, without asking for a name.',
      remedy: setting,
    },
    ({ readOnlyPort = 0 }) => (readOnlyPort === 0 ? undefined : `readOnlyPort is ${readOnlyPort}`),
  ),
  kubeletControl(
    {
      id: '4.2.5',
      title: 'idle connections of exec and attach end',
      why: 'Otherwise forgotten connections hold memory for ever.',
      remedy: setting,
    },
    ({ streamingConnectionIdleTimeout: timeout = '4h0m0s' }) =>
      isZero(timeout) ? 'streamingConnectionIdleTimeout is 0' : undefined,
  ),
  kubeletControl(
    {
      id: '4.2.6',
      title: 'the kubelet keeps its firewall chains',
      why: 'They refuse packets from outside to addresses of the loopback.',
      remedy: setting,
    },
    ({ makeIPTablesUtilChains = true }) => (makeIPTablesUtilChains ? undefined : 'makeIPTablesUtilChains is false'),
  ),
  processControl(
    {
      id: '4.2.7',
      title: 'the name of the node is that of the machine',
      why: 'A node with a borrowed name is hard to find and its certificate says nothing about the machine.',
      remedy: 'Give the machine the name that the inventory has for it.',
    },
    {
      program: 'kubelet',
      judge: (process, { name, security }) => {
        const given = flagOf(process, 'hostname-override');
        if (given === undefined) return undefined;
        const hostname = security.status === 'seen' ? security.value.hostname : '';
        if (given !== name || hostname.split('.', 1)[0] !== given)
          return `${flagText(process, 'hostname-override')}, the machine is ${hostname}`;
        return notApplicable(
          'the flag is set to the name of the machine in the inventory, which certificates are checked against',
        );
      },
    },
  ),
  kubeletControl(
    {
      id: '4.2.8',
      title: 'events of the kubelet are limited and not lost',
      why: 'With no limit one pod can flood the API; with a low one the traces of an attack get lost.',
      remedy: setting,
    },
    ({ eventRecordQPS = 50 }) => (eventRecordQPS > 0 ? undefined : `eventRecordQPS is ${eventRecordQPS}`),
  ),
  kubeletControl(
    {
      id: '4.2.9',
      title: 'the kubelet serves with a signed certificate',
      why: 'A certificate that it signed itself proves nothing to kube-apiserver.',
      remedy: setting,
    },
    ({ serverTLSBootstrap = false, tlsCertFile, tlsPrivateKeyFile }) =>
      serverTLSBootstrap || (tlsCertFile && tlsPrivateKeyFile) ? undefined : 'it signs its certificate itself',
  ),
  kubeletControl(
    {
      id: '4.2.10',
      title: 'the kubelet renews its client certificate',
      why: 'Otherwise the node is lost on the day that the certificate ends.',
      remedy: setting,
    },
    ({ rotateCertificates = false }) => (rotateCertificates ? undefined : 'rotateCertificates is false'),
  ),
  kubeletControl(
    {
      id: '4.2.11',
      title: 'the kubelet renews its serving certificate',
      why: 'Otherwise logs and exec fail on the day that the certificate ends.',
      remedy: setting,
    },
    ({ featureGates = {}, serverTLSBootstrap = false }) => {
      if (featureGates['RotateKubeletServerCertificate'] === false) return 'RotateKubeletServerCertificate is off';
      return serverTLSBootstrap ? undefined : 'serverTLSBootstrap is false';
    },
  ),
  kubeletControl(
    {
      id: '4.2.12',
      title: 'the kubelet: strong cipher suites only',
      why: 'A client that offers a broken suite must be refused instead of served.',
      remedy: setting,
    },
    ({ tlsMinVersion: minVersion, tlsCipherSuites: suites = [] }) => weakSuites({ minVersion, suites }),
  ),
  kubeletControl(
    {
      id: '4.2.13',
      title: 'a pod has a limit of processes',
      why: 'Without it one pod can use up the process numbers of its node.',
      remedy: setting,
    },
    ({ podPidsLimit = -1 }) => (podPidsLimit > 0 ? undefined : 'podPidsLimit is not set'),
  ),
  kubeletControl(
    {
      id: '4.2.14',
      title: 'pods run with the seccomp profile of the runtime',
      why: 'Without it every system call of the kernel is open to every pod.',
      remedy: setting,
    },
    ({ seccompDefault = false }) => (seccompDefault ? undefined : 'seccompDefault is false'),
  ),
  processControl(
    {
      id: '4.3.1',
      title: 'kube-proxy shows its metrics to its own machine only',
      why: 'They tell a stranger which Services there are.',
      remedy: 'Set metricsBindAddress of the KubeProxyConfiguration to 127.0.0.1:10249.',
    },
    {
      program: 'kube-proxy',
      judge: (process) => {
        const address = flagOf(process, 'metrics-bind-address') ?? process.settings.metricsBindAddress ?? '';
        return address === '' || /^(127\.|\[?::1\]?)/.test(address) ? undefined : `metrics are served on ${address}`;
      },
    },
  ),
];
