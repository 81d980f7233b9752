// The journal: one file per unit that matters to a bootstrap, and the whole of it.
import type { JournalPart, MachineCollector } from '../machine-collector.ts';

const units = [
  'firstlight-firstboot',
  'release-image-pivot',
  'bootkube',
  'approve-csr',
  'progress',
  'tectonic',
  'rm-assets',
  'machine-config-server',
  'firstlight-prepare',
  'k8s-node-bootstrap',
  'containerd',
  'kubelet',
  'kube-proxy',
  'firstlight-agent',
];

const ofUnit = (unit: string): JournalPart => ({
  kind: 'journal',
  file: `journals/${unit}.log`,
  units: [`${unit}.service`],
  lines: 5_000,
});

export const journalsCollector: MachineCollector = {
  name: 'journals',
  takes: 'the journal of each unit of a bootstrap, and the whole journal of all boots',
  parts: [...units.map(ofUnit), { kind: 'journal', file: 'journals/journal.log', units: [], lines: 40_000 }],
};
