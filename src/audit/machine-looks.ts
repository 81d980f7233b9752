// How controls look at machines: at a process and its flags, at files and their owners, at the settings of a kubelet.
// A machine that could not be looked at makes its controls unknown; a program that is missing on a master does as well.
import {
  type AuditControl,
  type AuditFinding,
  type ControlText,
  type ControlVerdict,
  combineVerdicts,
  notApplicable,
  verdictOf,
} from './control.ts';
import type { AuditedMachine, AuditFacts, KubeletSettings, Seen } from './facts.ts';
import type { AuditedProgram, ObservedProcess, OwnedFile, SecurityFacts } from './inside/security-facts.ts';

/** What is wrong, in words; undefined where nothing is; or a verdict of its own, such as "does not apply". */
export type Judgement = string | undefined | ControlVerdict;

function judged(where: string, judgement: Judgement): ControlVerdict {
  if (typeof judgement === 'object') return judgement;
  return verdictOf(judgement === undefined ? [] : [{ where, seen: judgement }]);
}

function unseen(part: Extract<Seen<unknown>, { status: 'unseen' }>): ControlVerdict {
  return part.isPossible ? { result: 'unknown', reason: part.reason } : notApplicable(part.reason);
}

/** The verdict about what could be seen, or why there is none. */
export function ifSeen<T>(part: Seen<T>, look: (value: T) => ControlVerdict): ControlVerdict {
  return part.status === 'seen' ? look(part.value) : unseen(part);
}

function onEach(
  machines: readonly AuditedMachine[],
  look: (machine: AuditedMachine) => ControlVerdict,
): ControlVerdict {
  const verdicts = machines.map((machine) => ({ ...look(machine), where: machine.name }));
  return verdicts.length === 0 ? { result: 'unknown', reason: 'no machine is known' } : combineVerdicts(verdicts);
}

const isMaster = ({ role }: AuditedMachine): boolean => role === 'master';

/** Programs of pods run on masters only, programs of units everywhere. */
const masterPrograms: readonly AuditedProgram[] = [
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'etcd',
];

/**
 * The processes of the program that are what they claim to be: those of a static pod of this machine, or of the unit of
 * that name. A pod of a user may run any program under any name.
 */
export function genuineProcesses(
  { api }: Pick<AuditFacts, 'api'>,
  machine: AuditedMachine,
  program: AuditedProgram,
): readonly ObservedProcess[] {
  if (machine.security.status === 'unseen') return [];
  const found = machine.security.value.processes.filter((process) => process.program === program);
  if (!masterPrograms.includes(program)) return found.filter(({ unit }) => unit === `${program}.service`);
  if (api.status === 'unseen') return found;
  const pods = api.value.pods.filter(({ node, staticUid }) => node === machine.name && staticUid !== undefined);
  return found.filter(({ pod }) => pods.some(({ staticUid }) => staticUid === pod));
}

export interface ProcessLook {
  readonly program: AuditedProgram;
  readonly judge: (process: ObservedProcess, machine: AuditedMachine, facts: AuditFacts) => Judgement;
  /** Flags alone say nothing: it needs the files that they name. */
  readonly needsFiles?: boolean;
}

export function processControl(text: ControlText, processLook: ProcessLook): AuditControl {
  const isOnMasters = masterPrograms.includes(processLook.program);
  const look = (facts: AuditFacts): ControlVerdict =>
    onEach(isOnMasters ? facts.machines.filter(isMaster) : facts.machines, (machine) =>
      lookAtProcess(facts, machine, processLook),
    );
  return { ...text, look };
}

function lookAtProcess(
  facts: AuditFacts,
  machine: AuditedMachine,
  { program, judge, needsFiles = false }: ProcessLook,
): ControlVerdict {
  const { security } = machine;
  const shown =
    security.status === 'seen' || security.isPossible || needsFiles ? [] : shownProcesses(facts, machine, program);
  if (security.status === 'unseen' && shown.length === 0) return unseen(security);
  const processes = security.status === 'seen' ? genuineProcesses(facts, machine, program) : shown;
  if (processes.length === 0) return { result: 'unknown', reason: `${program} does not run` };
  const verdicts = processes.map((process) => judged(machine.name, judge(process, machine, facts)));
  return combineVerdicts(verdicts.map((verdict) => ({ ...verdict, where: machine.name })));
}

/** What static pods of the machine are started with, as its kubelet shows them in the API. */
function shownProcesses(
  { api }: AuditFacts,
  machine: AuditedMachine,
  program: AuditedProgram,
): readonly ObservedProcess[] {
  if (api.status === 'unseen') return [];
  return api.value.pods
    .filter(({ node, staticUid }) => node === machine.name && staticUid !== undefined)
    .flatMap(({ containers }) => containers)
    .filter(({ name }) => name === program)
    .map(({ arguments: args = [], runAsUser = 0 }) => ({
      program,
      pid: 0,
      uid: runAsUser,
      arguments: [...args],
      variables: {},
      files: [],
      settings: {},
    }));
}

/** The value of a flag, the last one given: `--profiling` alone is `true`. Undefined where it is not given. */
export function flagOf({ arguments: args }: Pick<ObservedProcess, 'arguments'>, name: string): string | undefined {
  const index = args.findLastIndex((argument) => argument.replace(/^--?/, '').split('=', 1)[0] === name);
  const argument = args[index];
  if (argument === undefined || !argument.startsWith('-')) return undefined;
  if (argument.includes('=')) return argument.slice(argument.indexOf('=') + 1);
  const next = args[index + 1];
  return next === undefined || next.startsWith('-') ? 'true' : next;
}

/** A flag whose value is a list with commas. */
export function flagList(process: Pick<ObservedProcess, 'arguments'>, name: string): readonly string[] {
  return (flagOf(process, name) ?? '').split(',').filter((entry) => entry !== '');
}

/** `--profiling is not set` or `--profiling is true`. */
export function flagText(process: Pick<ObservedProcess, 'arguments'>, name: string): string {
  const value = flagOf(process, name);
  return value === undefined ? `--${name} is not set` : `--${name} is ${value}`;
}

/** The flags that must be there; the first one that is not is what is wrong. */
export function needsFlags(...names: readonly string[]): ProcessLook['judge'] {
  return (process) => {
    const missing = names.find((name) => (flagOf(process, name) ?? '') === '');
    return missing === undefined ? undefined : `--${missing} is not set`;
  };
}

export function needsFlagValue(name: string, wanted: string): ProcessLook['judge'] {
  return (process) => (flagOf(process, name) === wanted ? undefined : flagText(process, name));
}

export interface FileLook {
  /** On masters only, or on every machine. */
  readonly on: 'masters' | 'nodes';
  readonly files: (security: SecurityFacts, machine: AuditedMachine, facts: AuditFacts) => readonly OwnedFile[];
  /** What is wrong with one file. */
  readonly judge: (file: OwnedFile, machine: AuditedMachine, facts: AuditFacts) => string | undefined;
  /** Where there is no such file. */
  readonly none: ControlVerdict;
}

export function fileControl(text: ControlText, fileLook: FileLook): AuditControl {
  return { ...text, look: (facts) => lookAtFiles(facts, fileLook) };
}

export function lookAtFiles(facts: AuditFacts, { on, files, judge, none }: FileLook): ControlVerdict {
  const machines = on === 'masters' ? facts.machines.filter(isMaster) : facts.machines;
  return onEach(machines, (machine) =>
    ifSeen(machine.security, (security) => {
      const found = files(security, machine, facts);
      if (found.length === 0) return none;
      const findings = found.flatMap((file): readonly AuditFinding[] => {
        const wrong = judge(file, machine, facts);
        return wrong === undefined ? [] : [{ where: machine.name, seen: `${file.path} ${wrong}` }];
      });
      return verdictOf(findings);
    }),
  );
}

/** No bit beyond these. */
export function modeAtMost(most: number): FileLook['judge'] {
  return ({ mode }) => ((mode & ~most & 0o777) === 0 ? undefined : `is ${modeText(mode)}, at most ${modeText(most)}`);
}

/** Root, or the user that a program itself runs as: a program that is not root must be able to read what is its own. */
export function ownedByRootOr(...programs: readonly AuditedProgram[]): FileLook['judge'] {
  return ({ uid, gid }, machine, facts) => {
    const users = programs
      .flatMap((program) => genuineProcesses(facts, machine, program))
      .map((process) => process.uid);
    const allowed = [0, ...users];
    return allowed.includes(uid) && allowed.includes(gid) ? undefined : `belongs to ${ownerText({ uid, gid })}`;
  };
}

export function modeText(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, '0');
}

export function ownerText({ uid, gid }: Pick<OwnedFile, 'uid' | 'gid'>): string {
  const word = (id: number): string => (id === 0 ? 'root' : String(id));
  return `${word(uid)}:${word(gid)}`;
}

/** Looks at the settings of every kubelet. */
export function kubeletControl(text: ControlText, judge: (settings: KubeletSettings) => Judgement): AuditControl {
  const look = ({ machines }: AuditFacts): ControlVerdict =>
    onEach(machines, ({ name, kubelet }) => ifSeen(kubelet, (settings) => judged(name, judge(settings))));
  return { ...text, look };
}
