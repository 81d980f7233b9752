import { expect, test } from 'vitest';
import { presetUnits } from './presets.ts';

test('a preset file names its units, with the instances of templates written out', () => {
  const preset =
    'enable a.service\ndisable b.socket\n# note\n\nenable echo@.service bar foo\nenable t@.service \nenable a.service\n';
  expect(presetUnits(preset)).toEqual(['a.service', 'b.socket', 'echo@bar.service', 'echo@foo.service', 't@.service']);
  expect(presetUnits('')).toEqual([]);
});
