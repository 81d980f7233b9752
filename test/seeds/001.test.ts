// The document about the torcx bootstrapper, line by line: what each line asks for, in a few words of our own, and which
// tests prove it.
import { proveLines } from './seed-lines.ts';

const bootstrap = 'test/oracle/torcx-bootstrap.test.ts';
const hostile = 'test/oracle/torcx-hostile.test.ts';
const hook = 'test/oracle/torcx-hook.test.ts';
const machines = 'test/e2e/torcx.test.ts';
const clusterNodes = 'test/e2e/torcx-nodes.ts';

proveLines([
  {
    lines: [3],
    asks: 'the same code is a hook that a DaemonSet runs before a reboot',
    provenBy: {
      [hook]: ['prepares the next OS, clears older stores and annotates its own node'],
      'src/torcx/hook-manifests.test.ts': ['the hook may patch nodes and nothing else'],
      [clusterNodes]: [
        'the hook that `torcx manifests` prints prepares a node that is about to reboot, and says so on it',
      ],
    },
  },
  {
    lines: [7],
    asks: 'every new node runs it, once at most, before it can join',
    provenBy: {
      [clusterNodes]: ['%s ran the bootstrapper once, before its kubelet, and joined'],
      [machines]: ['does not run the bootstrapper again when it reboots'],
    },
  },
  {
    lines: [8],
    asks: 'the kubelet cannot start before kubelet.env is written',
    provenBy: {
      [machines]: ['a machine with the right docker starts its kubelet after the next run, and not before'],
      'test/oracle/torcx-kill.test.ts': [
        'killed at every point, the rerun ends right and kubelet.env is absent or whole',
      ],
    },
  },
  {
    lines: [9, 10],
    asks: 'a unit of this name, which Ignition writes and the installer owns',
    provenBy: {
      'src/torcx/node-bootstrap-unit.test.ts': ['the unit runs once, before the kubelet, and again after a failure'],
      'test/oracle/torcx-node.test.ts': ['systemd finds nothing wrong with the bootstrap unit and the kubelet’s gate'],
      'src/machine-config/base-machine-configs.test.ts': [
        'ship what the torcx bootstrapper falls back to as files of the installer, and run it before the kubelet',
      ],
    },
  },
  {
    lines: [14, 15],
    asks: 'whether to ask for an OS update; yes by default',
    provenBy: { [hostile]: ['without leave to upgrade it is only asked, and a waiting update is prepared for'] },
  },
  {
    lines: [16],
    asks: 'whether to leave add-ons alone; also the way of a system that has none',
    provenBy: {
      [hostile]: ['without an update only kubelet.env is written: no torcx, no bucket, no reboot, no bus'],
      'src/torcx/run-torcx.test.ts': [
        'is told so, and gets its kubelet.env from the file of the installer, without add-on and reboot',
      ],
    },
  },
  {
    lines: [17],
    asks: 'whether to believe lists without a signature; no by default',
    provenBy: {
      [bootstrap]: ['%s accepts it and never asks for the signature', 'a missing signature is final after one request'],
    },
  },
  {
    lines: [18],
    asks: 'a Kubernetes version that is taken as it is given',
    provenBy: { [bootstrap]: ['mappings with the key 1.10 serve Kubernetes 1.10, not 1.1'] },
  },
  {
    lines: [19, 25],
    asks: 'a template for the URL of lists, filled in for the node, with a signature beside each',
    provenBy: {
      'src/torcx/manifest-url.test.ts': ['the manifest URL fills in what is known, percent-encoded'],
      'test/oracle/torcx-signature.test.ts': ['on a good signature, on altered content and on an altered signature'],
    },
  },
  {
    lines: [29, 33],
    asks: 'the version of the cluster, or of the installer’s file where the cluster does not answer',
    provenBy: {
      [bootstrap]: [
        'the cluster’s version and mappings win over the local ones, asked with the node’s certificate',
        'every source falls back to the installer’s file and the node is prepared and rebooted',
      ],
    },
  },
  {
    lines: [34, 37],
    asks: 'mappings in the ConfigMap of this name, then in the installer’s file of this name',
    provenBy: {
      'src/bootkube/render-stages.test.ts': [
        'a cluster with nodeBootstrap: torcx ships the Kubernetes of the release as ConfigMap and as files',
      ],
      [clusterNodes]: [
        'what it falls back to are files of the installer, and the same in the ConfigMap',
        'a joining node may read that ConfigMap and no other',
      ],
      [bootstrap]: ['mappings with the key 1.10 serve Kubernetes 1.10, not 1.1'],
    },
  },
  {
    lines: [38],
    asks: 'the running OS by its os-release, whatever OS it is',
    provenBy: {
      'src/torcx/operating-system.test.ts': [
        'VERSION_ID and COREOS_BOARD count, VERSION with its build does not',
        'a system that torcx is not part of has its name, and its version may be anything',
      ],
    },
  },
  {
    lines: [39],
    asks: 'the next OS by update_engine, over D-Bus',
    provenBy: {
      [bootstrap]: ['the next OS decides, even where the running one has only another version'],
      [hostile]: ['an engine that leaves in the middle ends the wait at once'],
    },
  },
  {
    lines: [40, 41],
    asks: 'lists of both OS versions, and the images that they name',
    provenBy: {
      [bootstrap]: [
        'both stores are filled from one download, and kubelet.env is there when the reboot is asked for',
        'an image with other bytes fails the node and leaves nothing',
      ],
    },
  },
  {
    lines: [43, 44],
    asks: 'everything remote has a copy on the node, in the installer’s folder',
    provenBy: {
      'src/machine-config/base-machine-configs.test.ts': [
        'ship what the torcx bootstrapper falls back to as files of the installer, and run it before the kubelet',
      ],
      [clusterNodes]: ['what it falls back to are files of the installer, and the same in the ConfigMap'],
    },
  },
  {
    lines: [48, 49],
    asks: 'an API server that fails for good does not stop a node; all about it is in the node’s kubeconfig',
    provenBy: {
      [bootstrap]: [
        'a server that resets gets exactly three requests per question; one that hangs does not hold the node up',
      ],
    },
  },
  {
    lines: [50],
    asks: 'a bucket that fails for good does: no kubelet starts',
    provenBy: {
      [machines]: ['%s says what it waits for and its kubelet does not run'],
      [bootstrap]: ['404 is final: one request, no node'],
    },
  },
]);
