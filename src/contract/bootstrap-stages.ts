// The names of the bootstrap stages. They are written to progress.json and to the timeline of the bootstrap machine;
// `create cluster` and the waterfall read them there. A test checks that bootkube/stages.ts has the same names.

/** The fifteen stages of bootkube. The number of a stage is its position in this list, counted from 1. */
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

/** The scripts that the document names, and the stages that they run. render-all.sh runs all that render. */
export const namedStages = {
  'render-etcd': 7,
  'render-kube-apiserver': 8,
  'render-kcm': 9,
  'render-scheduler': 10,
  'render-cvo': 6,
  'render-mco': 12,
  'start-bootstrap': 13,
} as const;
export type NamedStage = keyof typeof namedStages;

/** The stages after those, until the masters can run the cluster without the bootstrap machine. */
export const mastersStageNames: readonly string[] = ['masters', 'control-planes'];

/** The last stages, until the bootstrap machine is no longer part of the cluster. */
export const handoffStageNames: readonly string[] = ['commit', 'stop-serving', 'leave-etcd'];

/** Progress of the stage `cluster-bootstrap` while it starts the control plane. Each string is both text and key. */
export const clusterBootstrapWork = { etcdAnswers: 'etcd answers', seedsApi: 'seeds the API' } as const;
