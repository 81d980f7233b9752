// A unit as Ignition takes it. `enabled` is always said: an Ignition config that leaves it out asks for the presets
// of the image, which are not ours.
import type { Unit } from '../ignition/config.ts';
import type { SystemdUnit } from './unit.ts';
import { unitText } from './unit.ts';

export function ignitionUnit(unit: SystemdUnit): Unit {
  return { name: unit.name, enabled: unit.isEnabled, contents: unitText(unit) };
}
