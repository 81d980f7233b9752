// The document about the node bootstrapping flow, line by line: what each line asks for, in a few words of our own, and
// which tests prove it. Where 003 or 004 say otherwise, docs/seeds.md says which document wins, and the proof is of that.
import { nameDifferences, proveLines } from './seed-lines.ts';

const restarts = 'test/e2e/bootstrap-restarts.test.ts';
const units = 'src/machine-software/unit.test.ts';

proveLines([
  {
    lines: [7, 9],
    asks: 'a node is configured at its first boot, by Ignition, before anything else of it starts',
    provenBy: {
      'test/e2e/machines.test.ts': [
        'runs the unit that Ignition enabled, and keeps no copy of its config',
        'whose config cannot be applied says why, and starts no service',
      ],
    },
  },
  {
    lines: [13],
    asks: 'a reboot where one is needed, and a runtime without old data',
    provenBy: {
      'test/e2e/torcx.test.ts': ['a machine with another docker reboots first, and its kubelet never runs before that'],
    },
  },
  {
    lines: [17],
    asks: 'bootkube starts after the kubelet',
    provenBy: { [restarts]: ['the kubelet was up before bootkube on every boot'] },
  },
  {
    lines: [18],
    asks: 'a static control plane comes first',
    provenBy: { [restarts]: ['is, byte for byte, what the kubelet runs'] },
  },
  {
    lines: [19, 20],
    asks: 'another one takes over, and bootkube completes',
    provenBy: {
      [restarts]: ['the milestones are in the journal, in order', 'went on with the same keys, and the cluster stands'],
    },
  },
  {
    lines: [21, 22],
    asks: 'then tectonic starts, once, and deploys the components of the cluster',
    provenBy: {
      [restarts]: ['tectonic started exactly once, after bootkube had completed, and rm-assets after both'],
    },
  },
  {
    lines: [23],
    asks: 'tectonic completes with success, and not with less',
    provenBy: {
      'src/bootkube/add-ons.test.ts': [
        'succeeds when names work and the version operator has been through the release',
        'fails with an add-on missing, says which, and the next run goes on',
        'fails with a name server that does not start, however long it waits',
      ],
    },
  },
  {
    lines: [27, 29],
    asks: 'the kubelet starts by itself at every boot',
    provenBy: {
      [units]: ['restart the kubelet always, and start it at every boot, with the environment file of the seed'],
    },
  },
  {
    lines: [33, 38],
    asks: 'oneshots in an order that systemd keeps, on the bootstrap alone',
    provenBy: {
      [restarts]: ['systemd itself shows the chain', 'bootkube began anew after each kill and after the reboot'],
    },
  },
  {
    lines: [42, 48],
    asks: 'the kubelet may fail until it succeeds, and is started on every boot',
    provenBy: {
      [units]: ['restart the kubelet always, and start it at every boot, with the environment file of the seed'],
    },
  },
  {
    lines: [50, 54],
    asks: 'rm-assets waits for both, and is a oneshot',
    provenBy: {
      [restarts]: [
        'tectonic started exactly once, after bootkube had completed, and rm-assets after both',
        'destroy bootstrap removes the machine that was kept',
      ],
      'src/bootkube/add-ons.test.ts': ['rm-assets removes nothing while a retry of tectonic needs it'],
    },
  },
]);

nameDifferences(['000:10–12', '000:13', '000:15, 31', '000:19, 22', '000:54']);
