// Section 1.1: who may read and change the files of a control-plane machine.
import type { AuditControl } from '../control.ts';
import { notApplicable } from '../control.ts';
import type { AuditedProgram, OwnedFile, SecurityFacts } from '../inside/security-facts.ts';
import { type FileLook, fileControl, genuineProcesses, modeAtMost, modeText, ownedByRootOr } from '../machine-looks.ts';

interface FilePair {
  /** The number of the control about the mode; the next one is about the owner. */
  readonly first: number;
  readonly what: string;
  readonly why: string;
  readonly files: FileLook['files'];
  readonly none: FileLook['none'];
  readonly most?: number;
  /** Besides root. */
  readonly owners?: readonly AuditedProgram[];
}

/** The benchmark asks the same two questions of each kind of file: its mode and its owner. */
function filePair({ first, what, why, files, none, most = 0o600, owners = [] }: FilePair): readonly AuditControl[] {
  const who = owners.length === 0 ? 'root' : 'root or the program that reads it';
  return [
    fileControl(
      {
        id: `1.1.${first}`,
        title: `${what}: mode ${modeText(most)} at most`,
        why,
        remedy: `chmod ${most.toString(8)} what is named, on that machine.`,
      },
      { on: 'masters', files, none, judge: modeAtMost(most) },
    ),
    fileControl(
      {
        id: `1.1.${first + 1}`,
        title: `${what}: of ${who}`,
        why,
        remedy: `chown root:root what is named, on that machine.`,
      },
      { on: 'masters', files, none, judge: ownedByRootOr(...owners) },
    ),
  ];
}

const missing = (what: string): FileLook['none'] => ({ result: 'unknown', reason: `no ${what} was found` });

function podFilePair(first: number, program: AuditedProgram): readonly AuditControl[] {
  return filePair({
    first,
    what: `pod file of ${program}`,
    why: `Whoever can write the pod file of ${program} runs any program as root; whoever can read it knows its flags.`,
    files: ({ staticPods }) => staticPods.filter(({ containers }) => containers.includes(program)),
    none: missing(`pod file of ${program}`),
  });
}

/** The kubeconfigs that flags of the program name, as the program sees them. */
function kubeconfigPair(first: number, program: AuditedProgram): readonly AuditControl[] {
  return filePair({
    first,
    what: `kubeconfig of ${program}`,
    why: `Whoever reads the kubeconfig of ${program} is ${program} for the API.`,
    files: (_security, machine, facts) =>
      genuineProcesses(facts, machine, program).flatMap(({ files }) =>
        files.filter(({ flag }) => flag.endsWith('kubeconfig')),
      ),
    none: missing(`kubeconfig of ${program}`),
    owners: [program],
  });
}

const administrators = /\/(super-)?admin\.(conf|kubeconfig)$/;
const ofAdministrators = ({ credentials }: SecurityFacts): readonly OwnedFile[] =>
  credentials.filter(({ path, holds }) => holds === 'kubeconfig' && administrators.test(path));

const dataFolders: FileLook['files'] = (_security, machine, facts) =>
  genuineProcesses(facts, machine, 'etcd').flatMap(({ files }) => files.filter(({ flag }) => flag === 'data-dir'));

/** Every program of a control-plane machine that may have files of its own. */
const components: readonly AuditedProgram[] = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'etcd'];

const credentialsThat =
  (holds: SecurityFacts['credentials'][number]['holds']): FileLook['files'] =>
  ({ credentials }) =>
    credentials.filter((credential) => credential.holds === holds);

export const controlPlaneFileControls: readonly AuditControl[] = [
  ...podFilePair(1, 'kube-apiserver'),
  ...podFilePair(3, 'kube-controller-manager'),
  ...podFilePair(5, 'kube-scheduler'),
  ...podFilePair(7, 'etcd'),
  ...filePair({
    first: 9,
    what: 'files of the pod network',
    why: 'The container runtime runs, as root, the programs that these files name.',
    files: ({ networkFiles }) => networkFiles,
    none: missing('file of the pod network'),
  }),
  ...filePair({
    first: 11,
    what: 'data of etcd',
    why: 'The data folder of etcd is the whole cluster: every object, every secret.',
    files: dataFolders,
    none: missing('data folder of etcd'),
    most: 0o700,
    owners: ['etcd'],
  }),
  ...filePair({
    first: 13,
    what: 'kubeconfig of an administrator',
    why: 'On a machine it would make everybody who becomes root there an administrator of the cluster.',
    files: ofAdministrators,
    none: notApplicable('no machine has a kubeconfig of an administrator; it stays in the asset folder'),
  }),
  ...kubeconfigPair(15, 'kube-scheduler'),
  ...kubeconfigPair(17, 'kube-controller-manager'),
  fileControl(
    {
      id: '1.1.19',
      title: 'keys and certificates: of root or the program that reads them',
      why: 'Their owner can change their mode, so nobody else may own them.',
      remedy: 'chown root:root what is named, on that machine.',
    },
    {
      on: 'masters',
      files: ({ credentials }) => credentials.filter(({ holds }) => holds !== 'kubeconfig'),
      judge: ownedByRootOr(...components),
      none: missing('key or certificate'),
    },
  ),
  fileControl(
    {
      id: '1.1.20',
      title: 'certificates: mode 0644 at most',
      why: 'Everybody may read a certificate. Whoever writes one decides whom the cluster trusts.',
      remedy: 'chmod 644 what is named, on that machine.',
    },
    {
      on: 'masters',
      files: credentialsThat('certificate'),
      judge: modeAtMost(0o644),
      none: missing('certificate'),
    },
  ),
  fileControl(
    {
      id: '1.1.21',
      title: 'keys: mode 0600 at most',
      why: 'Whoever reads a key is its owner for everybody who trusts it.',
      remedy: 'chmod 600 what is named, on that machine, and replace the key: it may have been read.',
    },
    { on: 'masters', files: credentialsThat('key'), judge: modeAtMost(0o600), none: missing('key') },
  ),
];
