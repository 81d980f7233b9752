// Sections 1.3 and 1.4: the flags that kube-controller-manager and kube-scheduler really run with.
import type { AuditControl } from '../control.ts';
import { flagOf, flagText, needsFlags, needsFlagValue, type ProcessLook, processControl } from '../machine-looks.ts';

const manager = 'kube-controller-manager';
const scheduler = 'kube-scheduler';
const setFlag = 'Set the flag in the pod of the program; firstlight sets it, so find out who took it away.';

const onLoopback: ProcessLook['judge'] = (process) =>
  ['127.0.0.1', '::1'].includes(flagOf(process, 'bind-address') ?? '') ? undefined : flagText(process, 'bind-address');

/** 12500 where it is not given; zero switches the collection off. */
const collectsPods: ProcessLook['judge'] = (process) =>
  Number(flagOf(process, 'terminated-pod-gc-threshold') ?? 12_500) > 0
    ? undefined
    : flagText(process, 'terminated-pod-gc-threshold');

const profilingOff = {
  why: 'Profiles show the inside of the program, and making one costs it time.',
  remedy: 'Set --profiling=false.',
} as const;
const loopback = {
  why: 'Its port serves health and metrics to this machine; nobody else needs it.',
  remedy: 'Set --bind-address=127.0.0.1.',
} as const;

export const managerControls: readonly AuditControl[] = [
  processControl(
    {
      id: '1.3.1',
      title: 'pods that ended are deleted',
      why: 'Pods that ended stay in etcd until somebody deletes them.',
      remedy: 'Set --terminated-pod-gc-threshold above zero, or take it away for the default.',
    },
    { program: manager, judge: collectsPods },
  ),
  processControl(
    { id: '1.3.2', title: `${manager}: profiling is off`, ...profilingOff },
    { program: manager, judge: needsFlagValue('profiling', 'false') },
  ),
  processControl(
    {
      id: '1.3.3',
      title: 'each controller has an identity of its own',
      why: 'A controller then has the rights that it needs, and the audit log says which one acted.',
      remedy: setFlag,
    },
    { program: manager, judge: needsFlagValue('use-service-account-credentials', 'true') },
  ),
  processControl(
    {
      id: '1.3.4',
      title: 'signs tokens of service accounts with a key of their own',
      why: 'A key with one purpose can be replaced without breaking another.',
      remedy: setFlag,
    },
    { program: manager, judge: needsFlags('service-account-private-key-file') },
  ),
  processControl(
    {
      id: '1.3.5',
      title: 'gives pods the authority of the API',
      why: 'A pod must be able to verify whom it shows its token.',
      remedy: setFlag,
    },
    { program: manager, judge: needsFlags('root-ca-file') },
  ),
  processControl(
    {
      id: '1.3.6',
      title: 'serving certificates of kubelets can be renewed',
      why: 'Otherwise kubelets serve with certificates that they signed themselves.',
      remedy: 'Take RotateKubeletServerCertificate=false away from --feature-gates.',
    },
    {
      program: manager,
      judge: (process) =>
        /RotateKubeletServerCertificate=false/i.test(flagOf(process, 'feature-gates') ?? '')
          ? flagText(process, 'feature-gates')
          : undefined,
    },
  ),
  processControl(
    { id: '1.3.7', title: `${manager}: listens on loopback only`, ...loopback },
    { program: manager, judge: onLoopback },
  ),
  processControl(
    { id: '1.4.1', title: `${scheduler}: profiling is off`, ...profilingOff },
    { program: scheduler, judge: needsFlagValue('profiling', 'false') },
  ),
  processControl(
    { id: '1.4.2', title: `${scheduler}: listens on loopback only`, ...loopback },
    { program: scheduler, judge: onLoopback },
  ),
];
