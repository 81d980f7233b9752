// The units of every machine: what must run so that a kubelet joins and pods work.
// No unit carries the name or address of a machine: one MachineConfig serves a whole pool, so what differs between
// machines is found on the machine by firstlight-prepare.service and read from /run/firstlight.

import {
  containerdConfig,
  kubeletConfiguration,
  kubeletEnvironment,
  kubeletKubeconfig,
  kubeProxyConfiguration,
  kubeProxyKubeconfig,
  programs,
  runtimePaths,
} from '../contract/machine-paths.ts';
import { unitNames } from '../contract/unit-names.ts';
import type { PathUnit, ServiceUnit } from './unit.ts';
import type { Argument } from './unit-escape.ts';
import { splitVariable, variable } from './unit-escape.ts';

/**
 * The launcher in the machine root starts such a program without the optimising compilers and their threads. An agent
 * runs for months and mostly waits: it then needs 82 MB instead of 95 and no more processor time. A server under load
 * needs the compilers, and a program that ends soon frees its memory anyway.
 */
const withoutCompilers = { FIRSTLIGHT_SIZE: 'small' } as const;

const multiUser = { WantedBy: ['multi-user.target'] };

export const prepareUnit: ServiceUnit = {
  name: 'firstlight-prepare.service',
  why:
    'Finds what only this machine can know (its name and address, its cgroups, its capabilities) and writes it below ' +
    '/run/firstlight, where containerd and the kubelet read it. Skipped when the first boot has just done it.',
  isEnabled: true,
  unit: {
    Description: 'Find out what this machine is',
    Wants: ['network-online.target'],
    After: ['network-online.target'],
    Before: [unitNames.containerd, unitNames.kubelet],
    ConditionPathExists: [{ path: runtimePaths.environment, isNegated: true }],
    StartLimitIntervalSec: 0,
  },
  service: {
    Type: 'oneshot',
    RemainAfterExit: true,
    ExecStart: { program: programs.firstlight, args: ['machine-config', 'prepare'] },
    Restart: 'on-failure',
    RestartSec: 1,
  },
  install: multiUser,
};

export const containerdUnit: ServiceUnit = {
  name: unitNames.containerd,
  why:
    'Runs the containers. A restart must not end them, so only the main process is killed; the shims and their ' +
    'cgroups are its own to manage.',
  isEnabled: true,
  unit: {
    Description: 'Container runtime',
    Documentation: ['https://containerd.io'],
    Wants: [prepareUnit.name],
    After: ['network.target', 'local-fs.target', 'dbus.service', prepareUnit.name],
    StartLimitIntervalSec: 0,
  },
  service: {
    Type: 'notify',
    ExecStart: { program: programs.containerd, args: ['--config', containerdConfig] },
    Restart: 'always',
    RestartSec: 1,
    KillMode: 'process',
    Delegate: true,
    // Without CAP_SYS_RESOURCE systemd ignores the score and the limits and keeps its own.
    OOMScoreAdjust: -999,
    LimitNPROC: 'infinity',
    LimitCORE: 'infinity',
    TasksMax: 'infinity',
  },
  install: multiUser,
};

export interface KubeletUnitOptions {
  /**
   * `cluster`: a node, with the certificate that the agent asked for. `standalone`: only static pods from files, no
   * API, no Node object; the bootstrap machine's kubelet, which must never appear in the cluster.
   */
  readonly mode: 'cluster' | 'standalone';
}

export function kubeletUnit({ mode }: KubeletUnitOptions): ServiceUnit {
  const clusterArgs: readonly Argument[] = [`--kubeconfig=${kubeletKubeconfig}`];
  return {
    name: unitNames.kubelet,
    why:
      'Starts on every boot and may fail until it succeeds: without kubelet.env (k8s-node-bootstrap.service has not ' +
      'finished) or node.env (firstlight-prepare.service has not finished) it tries again every second. In a cluster ' +
      'firstlight-agent.service enables it, when the certificate of the node is there: it has nothing to do before.',
    isEnabled: mode === 'standalone' ? true : 'by the agent',
    unit: {
      Description: mode === 'cluster' ? 'Kubernetes node agent' : 'Kubernetes node agent, static pods only',
      Documentation: ['https://kubernetes.io/docs/'],
      Wants: [unitNames.containerd, 'network-online.target', prepareUnit.name],
      After: [unitNames.containerd, 'network-online.target', prepareUnit.name],
      StartLimitIntervalSec: 0,
    },
    service: {
      // The kubelet reports when it is up, so "after kubelet.service" means after it works, not after its exec.
      Type: 'notify',
      EnvironmentFile: [{ path: kubeletEnvironment }, { path: runtimePaths.environment }],
      ExecStart: {
        program: programs.kubelet,
        args: [
          `--config=${kubeletConfiguration}`,
          `--config-dir=${runtimePaths.kubeletFolder}`,
          ...(mode === 'cluster' ? clusterArgs : []),
          ['--hostname-override=', variable('NODE_NAME')],
          ['--node-ip=', variable('NODE_IP')],
          splitVariable('KUBELET_EXTRA_ARGS'),
        ],
      },
      Restart: 'always',
      RestartSec: 1,
      OOMScoreAdjust: -999,
      CPUAccounting: true,
      MemoryAccounting: true,
    },
    install: multiUser,
  };
}

/** More than `firstlight control-plane stop` takes when each of its waits lasts until its limit. */
export const controlPlaneStopSeconds = 35;

export const controlPlaneUnit: ServiceUnit = {
  name: 'firstlight-control-plane.service',
  why:
    'Ends the control plane of a master in order when its machine goes down, for whatever reason: systemd stops the ' +
    'kubelet before it and containerd after it. Without it API server and etcd are killed together, in the middle of ' +
    'requests. Nothing requires it and it requires nothing, so a restart of containerd or of the kubelet does not stop it.',
  isEnabled: true,
  unit: {
    Description: 'Orderly end of the control plane when this machine goes down',
    After: [unitNames.containerd, 'network-online.target'],
    Before: [unitNames.kubelet],
  },
  service: {
    Type: 'oneshot',
    RemainAfterExit: true,
    ExecStart: { program: programs.true, args: [] },
    ExecStop: [{ program: programs.firstlight, args: ['control-plane', 'stop'] }],
    TimeoutStopSec: controlPlaneStopSeconds,
  },
  install: multiUser,
};

export const kubeProxyUnit: ServiceUnit = {
  name: unitNames.kubeProxy,
  why:
    'Makes Service addresses work. A unit and not a pod, because it needs the nft of the machine and must be there ' +
    'before the first pod that talks to a Service. kube-proxy.path starts it when its kubeconfig appears.',
  isEnabled: false,
  unit: {
    Description: 'Kubernetes service addresses',
    Documentation: ['https://kubernetes.io/docs/reference/networking/virtual-ips/'],
    After: ['network-online.target', prepareUnit.name],
    StartLimitIntervalSec: 0,
  },
  service: {
    Type: 'exec',
    EnvironmentFile: [{ path: runtimePaths.environment }],
    ExecStart: {
      program: programs.kubeProxy,
      args: [`--config=${kubeProxyConfiguration}`, ['--hostname-override=', variable('NODE_NAME')]],
    },
    Restart: 'always',
    RestartSec: 1,
    OOMScoreAdjust: -998,
  },
};

export const kubeProxyPathUnit: PathUnit = {
  name: 'kube-proxy.path',
  why: 'Starts kube-proxy the moment the agent has written its kubeconfig, instead of letting it fail until then.',
  isEnabled: true,
  unit: { Description: 'Wait for the credentials of kube-proxy' },
  path: { PathExists: kubeProxyKubeconfig, Unit: kubeProxyUnit.name },
  install: multiUser,
};

export const agentUnit: ServiceUnit = {
  name: unitNames.agent,
  why:
    'Keeps this machine what the cluster says it is: pod network and routes, kube-proxy, and on a master its etcd ' +
    'member and control-plane pods. Everything it does is observed first, so it may be restarted at any moment.',
  isEnabled: true,
  unit: {
    Description: 'Firstlight node agent',
    Wants: ['network-online.target'],
    After: ['network-online.target', prepareUnit.name],
    StartLimitIntervalSec: 0,
  },
  service: {
    Type: 'exec',
    EnvironmentFile: [{ path: runtimePaths.environment }],
    // An agent's objects live for a moment or as long as the agent: a small young generation saves 35 MB at no cost.
    Environment: {
      ...withoutCompilers,
      NODE_OPTIONS: '--max-semi-space-size=1 --max-old-space-size=64',
      MALLOC_ARENA_MAX: '1',
    },
    ExecStart: { program: programs.firstlight, args: ['agent'] },
    Restart: 'always',
    RestartSec: 1,
    OOMScoreAdjust: -998,
  },
  install: multiUser,
};
