// A unit as Ignition reads it. `enabled` is left out only where the agent decides it at run time: then neither the
// first boot nor a later change touches it, and what the agent has decided is no drift.
import type { Dropin, Unit } from '../ignition/config.ts';
import type { SystemdUnit } from './unit.ts';
import { unitText } from './unit.ts';

export function ignitionUnit(unit: SystemdUnit): Unit {
  const { name, isEnabled } = unit;
  return { name, ...(typeof isEnabled === 'boolean' ? { enabled: isEnabled } : {}), contents: unitText(unit) };
}

/** An addition to a unit, also to a unit that another config defines. */
export interface UnitDropin {
  readonly unit: string;
  /** With its suffix: `10-proxy.conf`. */
  readonly name: string;
  readonly text: string;
}

/** A config names a unit once: drop-ins are part of their unit, or alone where another config defines the unit. */
export function ignitionUnits(units: readonly SystemdUnit[], dropins: readonly UnitDropin[]): readonly Unit[] {
  const waiting = Map.groupBy(dropins, ({ unit }) => unit);
  const own = units.map((unit) => {
    const added = waiting.get(unit.name) ?? [];
    waiting.delete(unit.name);
    return added.length === 0 ? ignitionUnit(unit) : { ...ignitionUnit(unit), dropins: added.map(ignitionDropin) };
  });
  return [...own, ...[...waiting].map(([name, added]) => ({ name, dropins: added.map(ignitionDropin) }))];
}

function ignitionDropin({ name, text }: UnitDropin): Dropin {
  return { name, contents: text };
}
