// The systemd units of a machine that more than one room names.

export const unitNames = {
  agent: 'firstlight-agent.service',
  containerd: 'containerd.service',
  kubelet: 'kubelet.service',
  kubeProxy: 'kube-proxy.service',
  systemTrust: 'update-ca-certificates.service',
} as const;
