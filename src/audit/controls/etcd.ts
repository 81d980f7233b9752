// Section 2: the flags that every etcd member really runs with. etcd also reads ETCD_… variables.
import type { AuditControl, ControlText } from '../control.ts';
import type { ObservedProcess } from '../inside/security-facts.ts';
import { flagOf, genuineProcesses, type Judgement, processControl } from '../machine-looks.ts';

/** A flag beats the variable of the same name. */
function settingOf(process: ObservedProcess, name: string): string | undefined {
  return flagOf(process, name) ?? process.variables[`ETCD_${name.toUpperCase().replaceAll('-', '_')}`];
}

const textOf = (process: ObservedProcess, name: string): string =>
  `--${name} is ${settingOf(process, name) ?? 'not set'}`;

const etcd = (text: ControlText, judge: (process: ObservedProcess) => Judgement): AuditControl =>
  processControl(text, { program: 'etcd', judge });

const needs =
  (...names: readonly string[]) =>
  (process: ObservedProcess): Judgement => {
    const missing = names.find((name) => (settingOf(process, name) ?? '') === '');
    return missing === undefined ? undefined : `--${missing} is not set`;
  };

const isOn =
  (name: string) =>
  (process: ObservedProcess): Judgement =>
    settingOf(process, name) === 'true' ? undefined : textOf(process, name);

const isOff =
  (name: string) =>
  (process: ObservedProcess): Judgement =>
    settingOf(process, name) === 'true' ? textOf(process, name) : undefined;

const setFlag = 'Set the flag in the pod of etcd; firstlight sets it, so find out who took it away.';
const noOwn = 'A certificate that etcd signs for itself proves nothing, so clients cannot tell it from an attacker.';

export const etcdControls: readonly AuditControl[] = [
  etcd(
    {
      id: '2.1',
      title: 'etcd serves with a certificate',
      why: 'What clients write is then encrypted on its way.',
      remedy: setFlag,
    },
    needs('cert-file', 'key-file'),
  ),
  etcd(
    {
      id: '2.2',
      title: 'etcd demands a certificate from clients',
      why: 'Whoever may write to etcd is above every right that the API grants.',
      remedy: setFlag,
    },
    isOn('client-cert-auth'),
  ),
  etcd(
    { id: '2.3', title: 'etcd signs no certificate for itself', why: noOwn, remedy: 'Take --auto-tls away.' },
    isOff('auto-tls'),
  ),
  etcd(
    {
      id: '2.4',
      title: 'members serve each other with certificates',
      why: 'What members copy to each other is the whole data of the cluster.',
      remedy: setFlag,
    },
    needs('peer-cert-file', 'peer-key-file'),
  ),
  etcd(
    {
      id: '2.5',
      title: 'members demand certificates from each other',
      why: 'Otherwise whoever reaches the port of the members can be one.',
      remedy: setFlag,
    },
    isOn('peer-client-cert-auth'),
  ),
  etcd(
    {
      id: '2.6',
      title: 'members sign no certificates for themselves',
      why: noOwn,
      remedy: 'Take --peer-auto-tls away.',
    },
    isOff('peer-auto-tls'),
  ),
  processControl(
    {
      id: '2.7',
      title: 'etcd has an authority of its own',
      why: 'Otherwise every client of the API, every kubelet among them, could also talk to etcd.',
      remedy: 'Give etcd --trusted-ca-file with an authority that signs for etcd only.',
    },
    {
      program: 'etcd',
      needsFiles: true,
      judge: (process, machine, facts) => {
        const own = process.files.find(({ flag }) => flag === 'trusted-ca-file');
        if (own?.digest === undefined) return '--trusted-ca-file names no readable authority';
        const ofApi = genuineProcesses(facts, machine, 'kube-apiserver').flatMap(({ files }) =>
          files.filter(({ flag }) => flag === 'client-ca-file'),
        );
        return ofApi.some(({ digest }) => digest === own.digest)
          ? `${own.path} is also the authority of the clients of the API`
          : undefined;
      },
    },
  ),
];
