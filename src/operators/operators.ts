// Every operator of the release, in the order of its run-levels. One row each; a new one is a new file and a row here.
import { authenticationOperator } from './authentication.ts';
import { dnsOperator } from './dns.ts';
import { etcdOperator } from './etcd.ts';
import { ingressOperator } from './ingress.ts';
import { kubeApiserverOperator } from './kube-apiserver.ts';
import { controllerManagerOperator } from './kube-controller-manager.ts';
import { schedulerOperator } from './kube-scheduler.ts';
import { machineConfigOperator } from './machine-config.ts';
import { metricsOperator } from './metrics.ts';
import { networkOperator } from './network.ts';
import type { Operator } from './operator.ts';
import { registryOperator } from './registry.ts';
import { storageOperator } from './storage.ts';

export const operators: readonly Operator[] = [
  etcdOperator,
  kubeApiserverOperator,
  controllerManagerOperator,
  schedulerOperator,
  authenticationOperator,
  storageOperator,
  metricsOperator,
  ingressOperator,
  registryOperator,
  networkOperator,
  dnsOperator,
  machineConfigOperator,
];
