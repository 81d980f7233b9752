// A systemd unit as data, and its text. Directives are named in types, because systemd only warns about a name it does
// not know and starts the service without it. Everything that is written goes through unit-escape.ts.
import type { Argument } from './unit-escape.ts';
import { commandWord, lineValue, quotedWord } from './unit-escape.ts';

/** A program and its arguments. */
export interface Command {
  readonly program: string;
  readonly args: readonly Argument[];
  /** A failure is logged and then counts as success (the `-` prefix). */
  readonly mayFail?: boolean;
}

export interface PathCondition {
  readonly path: string;
  /** The unit is skipped when the path exists. */
  readonly isNegated?: boolean;
  /** Of the conditions with this mark one is enough; the others must all hold. */
  readonly isAlternative?: boolean;
}

export interface EnvironmentFile {
  readonly path: string;
  /** The unit starts without the file; otherwise the start fails, and Restart= decides what happens then. */
  readonly isOptional?: boolean;
}

export interface UnitSection {
  readonly Description: string;
  readonly Documentation?: readonly string[];
  readonly Wants?: readonly string[];
  readonly Requires?: readonly string[];
  readonly Requisite?: readonly string[];
  readonly Conflicts?: readonly string[];
  readonly After?: readonly string[];
  readonly Before?: readonly string[];
  readonly ConditionPathExists?: readonly PathCondition[];
  readonly ConditionFirstBoot?: boolean;
  readonly DefaultDependencies?: boolean;
  readonly StartLimitIntervalSec?: number;
}

export interface ServiceSection {
  readonly Type: 'simple' | 'exec' | 'notify' | 'oneshot';
  readonly RemainAfterExit?: boolean;
  readonly User?: string;
  readonly WorkingDirectory?: string;
  readonly Environment?: Readonly<Record<string, string>>;
  readonly EnvironmentFile?: readonly EnvironmentFile[];
  /** Variables of the service manager that the service gets too. */
  readonly PassEnvironment?: readonly string[];
  readonly ExecStartPre?: readonly Command[];
  readonly ExecStart: Command;
  readonly ExecStartPost?: readonly Command[];
  readonly ExecReload?: readonly Command[];
  readonly ExecStop?: readonly Command[];
  readonly Restart?: 'no' | 'always' | 'on-failure';
  readonly RestartSec?: number;
  readonly TimeoutStartSec?: number | 'infinity';
  readonly TimeoutStopSec?: number | 'infinity';
  readonly KillMode?: 'control-group' | 'mixed' | 'process';
  readonly Delegate?: boolean;
  readonly OOMScoreAdjust?: number;
  readonly LimitCORE?: number | 'infinity';
  readonly LimitNPROC?: number | 'infinity';
  readonly TasksMax?: number | 'infinity';
  readonly CPUAccounting?: boolean;
  readonly MemoryAccounting?: boolean;
  readonly RuntimeDirectory?: string;
  readonly StateDirectory?: string;
  readonly StandardOutput?: 'journal' | 'journal+console';
  readonly PrivateTmp?: boolean;
  readonly ProtectSystem?: boolean | 'full' | 'strict';
  readonly ProtectHome?: boolean;
  readonly NoNewPrivileges?: boolean;
  /** The capabilities that the service may ever have; empty: none, also as root. */
  readonly CapabilityBoundingSet?: '';
}

export interface PathSection {
  readonly PathExists?: string;
  readonly PathModified?: string;
  readonly Unit: string;
}

export interface InstallSection {
  readonly WantedBy?: readonly string[];
  readonly RequiredBy?: readonly string[];
}

interface UnitBase {
  /** With its suffix: `kubelet.service`. */
  readonly name: string;
  /** Why the unit exists and what must stay true; written at the top of its text. */
  readonly why: string;
  /** Whether it starts at boot by itself. Where the agent decides it on the machine, no config says so. */
  readonly isEnabled: boolean | 'by the agent';
  readonly unit: UnitSection;
  readonly install?: InstallSection;
}

export interface ServiceUnit extends UnitBase {
  readonly service: ServiceSection;
}

export interface PathUnit extends UnitBase {
  readonly path: PathSection;
}

export type SystemdUnit = ServiceUnit | PathUnit;

/** The unit as a file; equal units give equal bytes. */
export function unitText(unit: SystemdUnit): string {
  const sections = [
    section('Unit', unit.unit),
    'service' in unit ? section('Service', unit.service) : section('Path', unit.path),
    ...(unit.install === undefined ? [] : [section('Install', unit.install)]),
  ];
  return `${comment(unit.why)}\n${sections.join('\n')}`;
}

/** The text of a drop-in that adds or overrides directives of a service that another config defines. */
export function dropinText(sections: {
  readonly unit?: Partial<UnitSection>;
  readonly service?: Partial<ServiceSection>;
}): string {
  return [
    ...(sections.unit === undefined ? [] : [section('Unit', sections.unit)]),
    ...(sections.service === undefined ? [] : [section('Service', sections.service)]),
  ].join('\n');
}

type DirectiveValue = NonNullable<
  (UnitSection & ServiceSection & PathSection & InstallSection)[keyof (UnitSection &
    ServiceSection &
    PathSection &
    InstallSection)]
>;

/** Directives whose list is one line of names; every other list is one line per item. */
const nameLists = new Set([
  'Wants',
  'Requires',
  'Requisite',
  'Conflicts',
  'After',
  'Before',
  'WantedBy',
  'RequiredBy',
  'PassEnvironment',
]);

function section(name: string, directives: object): string {
  const lines = Object.entries(directives as Readonly<Record<string, DirectiveValue | undefined>>).flatMap(
    ([directive, value]) =>
      value === undefined ? [] : directiveValues(directive, value).map((text) => `${directive}=${text}\n`),
  );
  return `[${name}]\n${lines.join('')}`;
}

function directiveValues(directive: string, value: DirectiveValue): readonly string[] {
  if (typeof value === 'boolean') return [value ? 'yes' : 'no'];
  if (typeof value === 'number') return [String(value)];
  if (typeof value === 'string') return [lineValue(value)];
  if (isList(value)) {
    if (nameLists.has(directive)) return value.length === 0 ? [] : [value.map((item) => itemText(item)).join(' ')];
    return value.map((item) => itemText(item));
  }
  // A record of variables may hold any name, also those of a command's fields.
  if (directive !== 'Environment' && isCommand(value)) return [commandText(value)];
  return Object.entries(value).map(([name, text]) => quotedWord(`${name}=${String(text)}`));
}

type ListItem = string | Command | PathCondition | EnvironmentFile;

function itemText(item: ListItem): string {
  if (typeof item === 'string') return lineValue(item);
  if (isCommand(item)) return commandText(item);
  if ('isOptional' in item) return `${item.isOptional === true ? '-' : ''}${lineValue(item.path)}`;
  return conditionText(item);
}

function conditionText({ path, isNegated = false, isAlternative = false }: PathCondition): string {
  return `${isAlternative ? '|' : ''}${isNegated ? '!' : ''}${lineValue(path)}`;
}

const lineWidth = 110;

function commandText(command: Command): string {
  const words = [command.program, ...command.args].map((word) => commandWord(word));
  const text = words.join(' ').length > lineWidth ? words.join(' \\\n    ') : words.join(' ');
  return `${command.mayFail === true ? '-' : ''}${text}`;
}

function isList(value: unknown): value is readonly ListItem[] {
  return Array.isArray(value);
}

function isCommand(value: object): value is Command {
  return 'program' in value;
}

function comment(text: string): string {
  const lines: string[] = [];
  let line = '#';
  for (const word of text.split(/\s+/)) {
    if (line.length + 1 + word.length > lineWidth && line !== '#') {
      lines.push(line);
      line = '#';
    }
    line += ` ${word}`;
  }
  return [...lines, line, ''].join('\n');
}
