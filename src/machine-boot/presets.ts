// The units named in a preset file (systemd.preset(5)), instances of templates written out.

/** `enable echo@.service a b` names echo@a.service and echo@b.service. */
export function presetUnits(preset: string): readonly string[] {
  const units = preset.split('\n').flatMap((line) => {
    const [verb, name, ...instances] = line.trim().split(/\s+/);
    if ((verb !== 'enable' && verb !== 'disable') || name === undefined || name === '') return [];
    if (instances.length === 0) return [name];
    return instances.map((instance) => name.replace('@.', `@${instance}.`));
  });
  return [...new Set(units)];
}
