// Section 4.1: who may read and change the files of a kubelet and of kube-proxy, on every machine.
import type { AuditControl } from '../control.ts';
import { notApplicable, passed } from '../control.ts';
import type { OwnedFile } from '../inside/security-facts.ts';
import {
  type FileLook,
  fileControl,
  genuineProcesses,
  lookAtFiles,
  modeAtMost,
  modeText,
  ownedByRootOr,
} from '../machine-looks.ts';

interface NodeFilePair {
  readonly first: number;
  readonly what: string;
  readonly why: string;
  readonly files: FileLook['files'];
  readonly most?: number;
  readonly none?: FileLook['none'];
}

function nodeFilePair({ first, what, why, files, most = 0o600, none }: NodeFilePair): readonly AuditControl[] {
  const missing = none ?? ({ result: 'unknown', reason: `no ${what} was found` } as const);
  return [
    fileControl(
      {
        id: `4.1.${first}`,
        title: `${what}: mode ${modeText(most)} at most`,
        why,
        remedy: `chmod ${most.toString(8)} what is named, on that machine.`,
      },
      { on: 'nodes', files, none: missing, judge: modeAtMost(most) },
    ),
    fileControl(
      {
        id: `4.1.${first + 1}`,
        title: `${what}: of root`,
        why,
        remedy: 'chown root:root what is named, on that machine.',
      },
      { on: 'nodes', files, none: missing, judge: ownedByRootOr() },
    ),
  ];
}

/** What flags of the program name, as it sees it. */
const flagFiles =
  (program: 'kubelet' | 'kube-proxy', flag: string): FileLook['files'] =>
  (_security, machine, facts) =>
    genuineProcesses(facts, machine, program).flatMap(({ files }) => files.filter((file) => file.flag === flag));

const noUnit: FileLook['none'] = { result: 'unknown', reason: 'no unit of the kubelet was found' };
const unitFiles: FileLook['files'] = ({ kubeletUnitFiles }) => kubeletUnitFiles;
const writableByOthers = ({ mode }: OwnedFile): boolean => (mode & 0o022) !== 0;
const readableByOthers = ({ mode }: OwnedFile): boolean => (mode & 0o077) !== 0;

const unitWhy = 'Whoever can write the unit of the kubelet runs any program as root at its next start.';

/** Everybody may ask systemd for a unit, so only writing matters. */
const unitMode: AuditControl = {
  id: '4.1.1',
  title: 'unit of the kubelet: mode 0600 at most',
  why: unitWhy,
  remedy: 'chmod 644 what is named, on that machine.',
  look: (facts) => {
    const judge: FileLook['judge'] = (file) => (writableByOthers(file) ? `is ${modeText(file.mode)}` : undefined);
    const written = lookAtFiles(facts, { on: 'nodes', files: unitFiles, none: noUnit, judge });
    if (written.result !== 'pass') return written;
    const isReadable = facts.machines.some(
      ({ security }) => security.status === 'seen' && security.value.kubeletUnitFiles.some(readableByOthers),
    );
    return isReadable
      ? notApplicable('only root may write it; systemd shows the text of every unit to every user, whatever its mode')
      : passed;
  },
};

const clientAuthority: FileLook['files'] = ({ credentials }, { kubelet }) => {
  const path = kubelet.status === 'seen' ? kubelet.value.authentication?.x509?.clientCAFile : undefined;
  return credentials.filter((file) => file.path === path);
};

export const nodeFileControls: readonly AuditControl[] = [
  unitMode,
  fileControl(
    { id: '4.1.2', title: 'unit of the kubelet: of root', why: unitWhy, remedy: 'chown root:root what is named.' },
    { on: 'nodes', files: unitFiles, none: noUnit, judge: ownedByRootOr() },
  ),
  ...nodeFilePair({
    first: 3,
    what: 'kubeconfig of kube-proxy',
    why: 'Whoever reads it is kube-proxy for the API.',
    files: ({ credentials }) =>
      credentials.filter(({ path, holds }) => holds === 'kubeconfig' && path.includes('kube-proxy')),
    none: notApplicable('kube-proxy has no kubeconfig of its own here'),
  }),
  ...nodeFilePair({
    first: 5,
    what: 'kubeconfig of the kubelet',
    why: 'Whoever reads it is this node for the API.',
    files: flagFiles('kubelet', 'kubeconfig'),
  }),
  ...nodeFilePair({
    first: 7,
    what: 'authority of the clients of the kubelet',
    why: 'Whoever writes it decides who may run commands in the pods of this node.',
    files: clientAuthority,
    most: 0o644,
  }),
  ...nodeFilePair({
    first: 9,
    what: 'settings of the kubelet',
    why: 'Whoever writes them can switch off every check of the kubelet.',
    files: ({ kubeletConfigFiles }) => kubeletConfigFiles,
  }),
];
