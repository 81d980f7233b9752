// The object that names the members of etcd. Apart from those who write it: manifests name it without knowing etcd.
export const etcdEndpoints = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  namespace: 'kube-system',
  name: 'etcd-endpoints',
} as const;
