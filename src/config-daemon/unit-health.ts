// Whether the units of a machine work after a change, as systemd says it. A unit that keeps being restarted is not
// failed for systemd; it is here, once the deadline of the caller is over.
import { unitNames } from '../contract/unit-names.ts';
import type { Host } from '../host/host.ts';

export interface UnitHealth {
  /** One sentence per unit that cannot work any more without a person. */
  readonly failed: readonly UnitTrouble[];
  /** One sentence per unit that may still become active. */
  readonly starting: readonly UnitTrouble[];
}

export interface UnitTrouble {
  readonly unit: string;
  /** `app.service is failed (Result=exit-code)`. */
  readonly text: string;
}

/** Without these the machine is no node: they must be active, whatever the config says of them. */
const nodeUnits: readonly string[] = [unitNames.containerd, unitNames.kubelet];

const properties = [
  'Id',
  'LoadState',
  'ActiveState',
  'SubState',
  'Result',
  'Type',
  'NRestarts',
  'ActiveEnterTimestampMonotonic',
];

const limitMs = 20_000;

/** `units`: those of the config that are enabled. */
export async function findUnitHealth(host: Host, units: readonly string[]): Promise<UnitHealth> {
  const names = [...new Set([...nodeUnits, ...units])];
  const args = ['show', `--property=${properties.join(',')}`, '--', ...names];
  const [{ stdout }, uptime] = await Promise.all([
    host.processes.run('systemctl', args, { timeoutMs: limitMs }),
    host.files.readText('/proc/uptime'),
  ]);
  return unitHealth(stdout, Number.parseFloat(uptime));
}

/** What `systemctl show` prints: a block of `Property=value` lines per unit. */
export function unitHealth(shown: string, uptimeSeconds: number): UnitHealth {
  const units = shown
    .split(/\n\n+/)
    .map((block) => new Map(block.split('\n').map((line) => cut(line))))
    .filter((unit) => unit.has('Id'));
  const judged = units.map((unit) => ({ verdict: verdictOf(unit, uptimeSeconds), trouble: troubleOf(unit) }));
  const having = (wanted: Verdict): readonly UnitTrouble[] =>
    judged.filter(({ verdict }) => verdict === wanted).map(({ trouble }) => trouble);
  return { failed: having('failed'), starting: having('starting') };
}

function cut(line: string): readonly [string, string] {
  const at = line.indexOf('=');
  return [line.slice(0, at), line.slice(at + 1)];
}

type Verdict = 'fine' | 'starting' | 'failed';
type Shown = ReadonlyMap<string, string>;

function verdictOf(unit: Shown, uptimeSeconds: number): Verdict {
  const isNeeded = nodeUnits.includes(unit.get('Id') ?? '');
  if (unit.get('LoadState') === 'masked') return isNeeded ? 'failed' : 'fine';
  if (unit.get('LoadState') === 'bad-setting' || unit.get('LoadState') === 'error') return 'failed';
  switch (unit.get('ActiveState') ?? '') {
    case 'failed':
      return 'failed';
    case 'activating':
    case 'deactivating':
      return 'starting';
    case 'inactive':
      return isNeeded ? 'starting' : 'fine';
    default:
      return isSteady(unit, uptimeSeconds) ? 'fine' : 'starting';
  }
}

/** A unit that does not say when it is up counts as up a second after its start: many programs end before. */
const steadySeconds = 1;
const typesThatSay = ['notify', 'notify-reload', 'oneshot', 'dbus'];

function isSteady(unit: Shown, uptimeSeconds: number): boolean {
  if (typesThatSay.includes(unit.get('Type') ?? '')) return true;
  // Targets, paths and timers have no type and are active at once; the agent is who asks.
  if (unit.get('Type') === undefined || unit.get('Id') === unitNames.agent) return true;
  return uptimeSeconds - Number(unit.get('ActiveEnterTimestampMonotonic')) / 1e6 >= steadySeconds;
}

function troubleOf(unit: Shown): UnitTrouble {
  const [id = '', active = '', sub = '', result = '', load = '', restarts = '0'] = [
    'Id',
    'ActiveState',
    'SubState',
    'Result',
    'LoadState',
    'NRestarts',
  ].map((name) => unit.get(name));
  const facts = [
    ...(load === 'loaded' ? [] : [load]),
    ...(sub === active ? [] : [sub]),
    ...(result === '' || result === 'success' ? [] : [`Result=${result}`]),
    ...(restarts === '0' || restarts === '' ? [] : [`restarted ${restarts} times`]),
  ];
  return { unit: id, text: `${id} is ${active}${facts.length === 0 ? '' : ` (${facts.join(', ')})`}` };
}
