// Which parts of a run get a row in the waterfall, for each kind of machine, in the order of the screen. A lane begins
// with the first moment that matches `from`, and ends with the first one after it that matches `to`.

import {
  bootkubeStageNames,
  clusterBootstrapWork,
  handoffStageNames,
  mastersStageNames,
} from '../contract/bootstrap-stages.ts';
import type { DutyName } from '../contract/duty-names.ts';
import { podWrittenKey } from '../contract/timeline.ts';
import type { RunMoment } from './run-record.ts';
import type { WaterfallRow } from './waterfall-rows.ts';

export interface Point {
  /** The program that noted it; any program when left out. */
  readonly by?: string;
  readonly step: string;
  readonly state: RunMoment['state'];
  /** What moved; anything when left out. */
  readonly key?: string;
}

export interface Lane {
  readonly label: string;
  readonly kind: WaterfallRow['kind'];
  readonly from: Point;
  readonly to: Point;
}

/** An agent notes its duties and the state of its node. */
type StepOf<By extends string> = By extends 'agent' ? DutyName | 'node' : string;

const began = <By extends string>(by: By, step: StepOf<By>): Point => ({ by, step, state: 'began' });
const done = <By extends string>(by: By, step: StepOf<By>): Point => ({ by, step, state: 'done' });
const moved = <By extends string>(by: By, step: StepOf<By>, key: string): Point => ({ by, step, state: 'moved', key });

function stepOf<By extends string>(by: By, step: StepOf<By>, shown: string | Pick<Lane, 'label' | 'kind'>): Lane {
  const { label, kind } = typeof shown === 'string' ? ({ label: shown, kind: 'work' } as const) : shown;
  return { label, kind, from: began(by, step), to: done(by, step) };
}

const firstBoot: readonly Lane[] = [
  { label: 'systemd', kind: 'work', from: began('systemd', 'systemd'), to: began('first-boot', 'first-boot') },
  { label: 'waits for config', kind: 'wait', from: began('first-boot', 'fetch'), to: began('first-boot', 'files') },
  { label: 'first boot', kind: 'work', from: began('first-boot', 'files'), to: done('first-boot', 'first-boot') },
  stepOf('systemd', 'containerd', 'containerd'),
  stepOf('systemd', 'kubelet', 'kubelet'),
];

/** The first and the last of the stages that only render files. */
const [firstRender = ''] = bootkubeStageNames;
const lastRender = 'machine-config';
const apiStage = 'cluster-bootstrap';

/** The labels of the handoff's stages. */
const handoffLabels: Readonly<Record<string, string>> = {
  masters: 'masters join etcd',
  'control-planes': 'two masters serve',
  commit: 'puts it on record',
  'stop-serving': 'stops its API',
  'leave-etcd': 'leaves etcd',
};

/** Stages in which the bootstrap machine only waits for the masters. */
const handedToMasters: readonly string[] = ['masters', 'control-planes'];

export const bootstrapLanes: readonly Lane[] = [
  ...firstBoot,
  {
    label: 'bootkube starts',
    kind: 'work',
    from: began('systemd', 'bootkube'),
    to: began('bootkube', firstRender),
  },
  {
    label: 'renders 1–12',
    kind: 'work',
    from: began('bootkube', firstRender),
    to: done('bootkube', lastRender),
  },
  {
    label: 'etcd starts',
    kind: 'work',
    from: began('bootkube', apiStage),
    to: moved('bootkube', apiStage, clusterBootstrapWork.etcdAnswers),
  },
  {
    label: 'API gets ready',
    kind: 'work',
    from: moved('bootkube', apiStage, clusterBootstrapWork.etcdAnswers),
    to: moved('bootkube', apiStage, clusterBootstrapWork.seedsApi),
  },
  {
    label: 'seeds the API',
    kind: 'work',
    from: moved('bootkube', apiStage, clusterBootstrapWork.seedsApi),
    to: done('bootkube', apiStage),
  },
  stepOf('bootkube', 'version-overrides', 'version overrides'),
  stepOf('bootkube', 'api-verification', 'API by its names'),
  ...[...mastersStageNames, ...handoffStageNames].map((name) => {
    const kind = handedToMasters.includes(name) ? 'wait' : 'work';
    return stepOf('bootkube', name, { label: handoffLabels[name] ?? name, kind });
  }),
  { label: 'tectonic starts', kind: 'work', from: began('systemd', 'tectonic'), to: began('tectonic', 'add-ons') },
  stepOf('tectonic', 'add-ons', 'applies add-ons'),
  stepOf('tectonic', 'nodes', 'add-ons get ready'),
  stepOf('rm-assets', 'rm-assets', 'removes secrets'),
];

const agentStart: Lane = {
  label: 'agent starts',
  kind: 'work',
  from: began('systemd', 'firstlight-agent'),
  to: began('agent', 'cluster-view'),
};

const apiSeen = { label: 'waits for the API', kind: 'wait' } as const;

const node: readonly Lane[] = [
  { label: 'kubelet joins', kind: 'work', from: done('systemd', 'kubelet'), to: began('agent', 'node') },
  { label: 'node gets Ready', kind: 'work', from: began('agent', 'node'), to: done('agent', 'node') },
];

export const masterLanes: readonly Lane[] = [
  ...firstBoot,
  agentStart,
  { label: 'keys, certificates', kind: 'work', from: began('agent', 'keys'), to: done('agent', 'credentials') },
  stepOf('agent', 'cluster-view', apiSeen),
  ...node,
  {
    label: 'waits to be member',
    kind: 'wait',
    from: done('agent', 'cluster-view'),
    to: moved('agent', 'etcd-member', podWrittenKey),
  },
  {
    label: 'etcd container',
    kind: 'work',
    from: moved('agent', 'etcd-member', podWrittenKey),
    to: began('container', 'etcd'),
  },
  { label: 'learner, then voter', kind: 'work', from: began('container', 'etcd'), to: done('agent', 'etcd-member') },
  {
    label: 'API container',
    kind: 'work',
    from: moved('agent', 'control-plane', podWrittenKey),
    to: began('container', 'kube-apiserver'),
  },
  {
    label: 'API gets ready',
    kind: 'work',
    from: began('container', 'kube-apiserver'),
    to: done('agent', 'control-plane'),
  },
  stepOf('systemd', 'kube-proxy', 'kube-proxy'),
];

export const workerLanes: readonly Lane[] = [
  ...firstBoot,
  agentStart,
  stepOf('agent', 'cluster-view', apiSeen),
  ...node,
  stepOf('systemd', 'kube-proxy', 'kube-proxy'),
];
