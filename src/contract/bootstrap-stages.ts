// The names of the bootstrap's stages as they stand in progress.json and in the timeline of the bootstrap machine,
// where `create cluster` and the waterfall read them. bootkube/stages.ts is held to this list by a test.

/** The fifteen stages of bootkube; the number of a stage is its place in this list. */
export const bootkubeStageNames: readonly string[] = [
  'manifests',
  'release-info',
  'api',
  'authentication',
  'config',
  'version-operator',
  'etcd',
  'kube-apiserver',
  'controller-manager',
  'scheduler',
  'ingress',
  'machine-config',
  'cluster-bootstrap',
  'version-overrides',
  'api-verification',
];

/** What follows them until the masters can carry the cluster. */
export const mastersStageNames: readonly string[] = ['masters', 'control-planes'];

/** What follows until the bootstrap machine has no part in the cluster. */
export const handoffStageNames: readonly string[] = ['commit', 'stop-serving', 'leave-etcd'];

/** What the stage `cluster-bootstrap` reports while it starts the control plane: text and key of that progress. */
export const clusterBootstrapWork = { etcdAnswers: 'etcd answers', seedsApi: 'seeds the API' } as const;
